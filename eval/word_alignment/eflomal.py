"""Word alignment by eflomal: a Bayesian model with fertilities, sampled (Östling and Tiedemann 2016).

Little text makes it guess, so endings are taken off first. Its sampler takes its seed from the system and can't be
given one: two runs differ in a few links of a hundred, and several samplers, whose marginals are averaged, in fewer. A
number that must come out again needs the links of the first run: see `eval.word_alignment.cache`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from ape.errors import InputError
from eval.word_alignment.aligner import Bitext, Links, Words
from eval.word_alignment.stems import stem, stemmer_of
from eval.word_alignment.symmetrise import grow_diag_final_and


@dataclass(frozen=True, slots=True)
class Eflomal:
    """eflomal in both directions, symmetrised."""

    source_language: str = "und"
    target_language: str = "und"
    samplers: int = 3
    iterations: float = 1.0
    """How many times its own number of iterations, which falls with the size of the text."""

    @property
    def name(self) -> str:
        """With its version and all settings."""
        stems = f"{stemmer_of(self.source_language)}+{stemmer_of(self.target_language)}"
        effort = f"samplers-{self.samplers}/iterations-{self.iterations:g}"
        return f"eflomal-{_version()}/{stems}/{effort}/gdfa"

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[Links]:
        """The links of each pair; a pair with an empty side has none."""
        whole = [place for place, (source, target) in enumerate(bitext) if source and target]
        links: list[Links] = [frozenset()] * len(bitext)
        texts = [bitext[place] for place in whole]
        if texts:
            learnt = [*texts, *((source, target) for source, target in extra if source and target)]
            for place, found in zip(whole, self._align(learnt)[: len(whole)], strict=True):
                links[place] = found
        return links

    def _align(self, bitext: Bitext) -> list[Links]:
        _version()
        import eflomal

        aligner = eflomal.Aligner(n_samplers=self.samplers, rel_iterations=self.iterations)
        with TemporaryDirectory() as folder:
            forward, backward = Path(folder) / "forward", Path(folder) / "backward"
            aligner.align(
                [_line(source, self.source_language) for source, _ in bitext],
                [_line(target, self.target_language) for _, target in bitext],
                links_filename_fwd=str(forward),
                links_filename_rev=str(backward),
            )
            sides = zip(_read(forward), _read(backward), strict=True)
            return [grow_diag_final_and(one, other) for one, other in sides]


@lru_cache(maxsize=1)
def _version() -> str:
    try:
        return version("eflomal")
    except PackageNotFoundError as error:
        raise InputError(
            "Words are aligned by eflomal, which is not installed. Type: pip install 'ape-books[eval]'"
        ) from error


def _line(words: Words, language: str) -> str:
    stemmed: Sequence[str] = [stem(word, language) for word in words]
    return " ".join("_".join(word.split()) or "_" for word in stemmed) + "\n"


def _read(path: Path) -> list[Links]:
    lines = path.read_text(encoding="ascii").removesuffix("\n").split("\n")
    return [frozenset(map(_link, line.split())) for line in lines]


def _link(told: str) -> tuple[int, int]:
    source, target = told.split("-")
    return int(source), int(target)

"""Word alignment by eflomal: a Bayesian model with fertilities, sampled (Östling and Tiedemann 2016).

Little text makes it guess, so endings are taken off first. Its sampler is given a seed, which is in the name: another
seed changes a few links of a hundred, and with several samplers, whose marginals are averaged, fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from eval.word_alignment.aligner import Bitext, Links, Words
from eval.word_alignment.sampler import Sampler, installed, takes_seed
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
    seed: int = 1
    program: Path | None = None
    """Another build than the installed one."""

    @property
    def name(self) -> str:
        """With its version and all settings; the seed is "none" where this build can't be given one."""
        stems = f"{stemmer_of(self.source_language)}+{stemmer_of(self.target_language)}"
        effort = f"samplers-{self.samplers}/iterations-{self.iterations:g}"
        seed = self.seed if takes_seed(self.program or installed()) else "none"
        return f"eflomal-{version('eflomal')}/{stems}/{effort}/seed-{seed}/gdfa"

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
        sampler = Sampler(self.samplers, self.iterations, self.seed, self.program or installed())
        forward, backward = sampler.links(
            [_line(source, self.source_language) for source, _ in bitext],
            [_line(target, self.target_language) for _, target in bitext],
        )
        sides = zip(map(_links, forward), map(_links, backward), strict=True)
        return [grow_diag_final_and(one, other) for one, other in sides]


def _line(words: Words, language: str) -> str:
    stemmed: Sequence[str] = [stem(word, language) for word in words]
    return " ".join("_".join(word.split()) or "_" for word in stemmed) + "\n"


def _links(line: str) -> Links:
    return frozenset(map(_link, line.split()))


def _link(told: str) -> tuple[int, int]:
    source, target = told.split("-")
    return int(source), int(target)

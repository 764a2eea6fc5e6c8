"""Word alignment by eflomal: a sampled Bayesian model with fertilities (Östling and Tiedemann 2016).

Words are stemmed first, since the model is unreliable on little text. The sampler's seed is in the name: another seed
changes a few links in a hundred, and fewer with several samplers, whose marginals are averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ape.text.word_alignment.eflomal_sampler import EflomalSampler, accepts_seed, find_eflomal
from ape.text.word_alignment.protocol import Bitext, WordLinks, WordSequence
from ape.text.word_alignment.stemmer import stem_word, stemmer_name
from ape.text.word_alignment.symmetrization import grow_diag_final_and


@dataclass(frozen=True, slots=True)
class EflomalAligner:
    """eflomal in both directions, symmetrised."""

    source_language: str = "und"
    target_language: str = "und"
    samplers: int = 3
    iterations: float = 1.0
    """Factor of eflomal's default number of iterations, which falls with the size of the text."""
    seed: int = 1
    program: Path | None = None
    """The path of the program, if not the installed one."""

    @property
    def name(self) -> str:
        """The name with version and all settings; the seed is "none" if this build accepts none."""
        stems = f"{stemmer_name(self.source_language)}+{stemmer_name(self.target_language)}"
        effort = f"samplers-{self.samplers}/iterations-{self.iterations:g}"
        seed = self.seed if accepts_seed(self.program or find_eflomal()) else "none"
        return f"eflomal-{version('eflomal')}/{stems}/{effort}/seed-{seed}/gdfa"

    def align(self, bitext: Bitext, *, extra: Bitext = ()) -> list[WordLinks]:
        """The links of each pair; none for a pair with an empty side."""
        whole = [place for place, (source, target) in enumerate(bitext) if source and target]
        links: list[WordLinks] = [frozenset()] * len(bitext)
        texts = [bitext[place] for place in whole]
        if texts:
            learnt = [*texts, *((source, target) for source, target in extra if source and target)]
            for place, found in zip(whole, self._align(learnt)[: len(whole)], strict=True):
                links[place] = found
        return links

    def _align(self, bitext: Bitext) -> list[WordLinks]:
        sampler = EflomalSampler(self.samplers, self.iterations, self.seed, self.program or find_eflomal())
        forward, backward = sampler.links(
            [_line(source, self.source_language) for source, _ in bitext],
            [_line(target, self.target_language) for _, target in bitext],
        )
        sides = zip(map(_links, forward), map(_links, backward), strict=True)
        return [grow_diag_final_and(one, other) for one, other in sides]


def _line(words: WordSequence, language: str) -> str:
    stemmed: Sequence[str] = [stem_word(word, language) for word in words]
    return " ".join("_".join(word.split()) or "_" for word in stemmed) + "\n"


def _links(line: str) -> WordLinks:
    return frozenset(map(_link, line.split()))


def _link(link: str) -> tuple[int, int]:
    source, target = link.split("-")
    return int(source), int(target)

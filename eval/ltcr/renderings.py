"""What an output made of each occurrence of a word: its links, mended by what the rest of the text says.

A rendering is the set of stems that the occurrence is linked to, without function words and without the neighbours that
the aligner took along: stems whose association with the word is less than half of the best one's. Where an occurrence
is linked to nothing, or to what no other occurrence is linked to, the aligner may have missed what is plainly there: so
the renderings of the other occurrences are looked for in its sentence, and taken if they are better partners of the
word than what was linked, and no other source word's better partner. What is not in the sentence can't be found there,
so a translation that changed its word is not excused by this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from eval.annotate.protocol import Token
from eval.ltcr.chains import Chain
from eval.ltcr.words import carries_meaning
from eval.word_alignment.aligner import Links

Stems: TypeAlias = frozenset[str]
# A neighbour of the rendering proper has less than this share of its association with the word.
NEIGHBOUR = 0.5
# Two renderings are the same if they share this part of all their stems.
SAME = 0.5


@dataclass(frozen=True, slots=True)
class Segment:
    """A source sentence in words, its translation in words, and the links between them."""

    source: Sequence[Token]
    target: Sequence[Token]
    links: Links


@dataclass(frozen=True, slots=True)
class Rendering:
    """One occurrence: the places of its words in the translation, and their stems; none where nothing was found."""

    places: tuple[int, ...] = ()
    stems: Stems = frozenset()
    linked: bool = True
    """Not: it was found by what the other occurrences have."""

    def same(self, other: Rendering) -> bool:
        """Whether most of both is shared; nothing is the same as nothing else, not even as nothing."""
        shared = len(self.stems & other.stems)
        return shared > 0 and shared >= SAME * len(self.stems | other.stems)


@dataclass(frozen=True, slots=True)
class Association:
    """How often a source word and a stem are linked, of all that they are linked to (Dice)."""

    together: Mapping[tuple[str, str], int]
    sources: Mapping[str, int]
    targets: Mapping[str, int]

    def __call__(self, word: str, stem: str) -> float:
        """1: they are only ever linked to each other."""
        both = self.together.get((word, stem), 0)
        return 2 * both / (self.sources[word] + self.targets[stem]) if both else 0.0


def associate(segments: Iterable[Segment]) -> Association:
    """Counted over all links of a text."""
    together: Counter[tuple[str, str]] = Counter()
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for segment in segments:
        for i, j in segment.links:
            word, token = segment.source[i].lemma.lower(), segment.target[j]
            if carries_meaning(token):
                together[word, token.lemma] += 1
                sources[word] += 1
                targets[token.lemma] += 1
    return Association(together, sources, targets)


@dataclass(slots=True)
class Renderer:
    """Finds the renderings of chains in one document."""

    segments: Sequence[Segment]
    association: Association
    _linked: dict[int, dict[int, list[int]]] = field(default_factory=dict)

    def renderings(self, chain: Chain) -> list[Rendering]:
        """One for each place of the chain."""
        own = [self._own(chain.word.lower(), segment, place) for segment, place in chain.places]
        often = Counter(one.stems for one in own if one.stems)
        found = list(own)
        for number, (segment, _) in enumerate(chain.places):
            if often[own[number].stems] < 2:
                taken = {place for other, (there, _) in enumerate(chain.places) if there == segment and other != number
                         for place in found[other].places}  # fmt: skip
                found[number] = self._found(chain.word.lower(), segment, own[number], often, taken)
        return found

    def _own(self, word: str, segment: int, place: int) -> Rendering:
        target = self.segments[segment].target
        places = [j for j in self._by_source(segment).get(place, ()) if carries_meaning(target[j])]
        strengths = {j: self.association(word, target[j].lemma) for j in places}
        least = NEIGHBOUR * max(strengths.values(), default=0.0)
        kept = tuple(j for j in places if strengths[j] >= least)
        return Rendering(kept, frozenset(target[j].lemma for j in kept))

    def _by_source(self, segment: int) -> dict[int, list[int]]:
        if segment not in self._linked:
            grouped: dict[int, list[int]] = {}
            for i, j in sorted(self.segments[segment].links):
                grouped.setdefault(i, []).append(j)
            self._linked[segment] = grouped
        return self._linked[segment]

    def _found(
        self, word: str, segment: int, own: Rendering, known: Counter[Stems], taken: Collection[int]
    ) -> Rendering:
        """The rendering of another occurrence that is in this sentence too, if it is better than the own one."""
        best, strength = own, self._strength(word, own.stems)
        for stems, _ in sorted(known.items(), key=lambda one: (-one[1], sorted(one[0]))):
            if stems != own.stems and self._strength(word, stems) > strength:
                places = self._places(word, segment, stems, taken)
                if places:
                    best, strength = Rendering(places, stems, linked=False), self._strength(word, stems)
        return best

    def _strength(self, word: str, stems: Stems) -> float:
        return max((self.association(word, stem) for stem in stems), default=0.0)

    def _places(self, word: str, segment: int, stems: Stems, taken: Collection[int]) -> tuple[int, ...]:
        """Where all the stems are in the translation and free; nowhere if one of them is not."""
        here = self.segments[segment]
        free: dict[str, int] = {}
        for j, token in enumerate(here.target):
            if token.lemma in stems and token.lemma not in free and j not in taken:
                partners = {here.source[i].lemma.lower() for i, other in here.links if other == j}
                strength = self.association(word, token.lemma)
                if all(self.association(partner, token.lemma) <= strength for partner in partners):
                    free[token.lemma] = j
        return tuple(sorted(free.values())) if len(free) == len(stems) else ()


def holds(target: Sequence[Token], stems: Sequence[str]) -> tuple[int, ...]:
    """The places of a rendering that stands in a translation word by word; none if it does not."""
    size = len(stems)
    found = [token.lemma for token in target]
    for start in range(len(found) - size + 1):
        if size and found[start : start + size] == list(stems):
            return tuple(range(start, start + size))
    return ()

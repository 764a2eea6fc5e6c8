"""Renderings: the words of an output that are linked to each occurrence of a source word.

A rendering is the stems of the linked words in reading order, without function words and without stems whose
association with the source word is less than half of the best one's. Words that are linked only at other occurrences
are not added: omissions of the aligner are its error and are reported as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ape.text.word_alignment.protocol import WordLinks
from eval.linguistics.annotators.protocol import Token
from eval.metrics.ltcr.chains import LexicalChain
from eval.metrics.ltcr.words import is_content_word

# A word with less than this share of the best word's association is not part of the rendering.
MIN_ASSOCIATION = 0.5
RENDERING_RECIPE = f"links/content-words/association-{MIN_ASSOCIATION:g}"
"""The part of the signature for renderings."""


@dataclass(frozen=True, slots=True)
class LinkedSegment:
    """A source sentence and its translation in words, with the links between them."""

    source: Sequence[Token]
    target: Sequence[Token]
    links: WordLinks


@dataclass(frozen=True, slots=True)
class WordRendering:
    """The indices of an occurrence's words in the translation, and their stems; empty if nothing was found."""

    places: tuple[int, ...] = ()
    stems: tuple[str, ...] = ()

    def equals(self, other: WordRendering) -> bool:
        """Whether both renderings are equal; an empty one equals none, not even another empty one."""
        return bool(self.stems) and self.stems == other.stems


@dataclass(frozen=True, slots=True)
class WordAssociation:
    """Dice association of source words and linked stems."""

    together: Mapping[tuple[str, str], int]
    sources: Mapping[str, int]
    targets: Mapping[str, int]

    def __call__(self, word: str, stem: str) -> float:
        """1: they are linked only to each other."""
        both = self.together.get((word, stem), 0)
        return 2 * both / (self.sources[word] + self.targets[stem]) if both else 0.0


def count_associations(segments: Iterable[LinkedSegment]) -> WordAssociation:
    """Count over all links of a text."""
    together: Counter[tuple[str, str]] = Counter()
    sources: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for segment in segments:
        for i, j in segment.links:
            word, token = segment.source[i].lemma.lower(), segment.target[j]
            if is_content_word(token):
                together[word, token.lemma] += 1
                sources[word] += 1
                targets[token.lemma] += 1
    return WordAssociation(together, sources, targets)


def chain_renderings(
    chain: LexicalChain, segments: Sequence[LinkedSegment], association: WordAssociation
) -> list[WordRendering]:
    """One rendering for each occurrence of a chain in its document."""
    return [_linked(segments[segment], place, association) for segment, place in chain.places]


def _linked(segment: LinkedSegment, place: int, association: WordAssociation) -> WordRendering:
    word, target = segment.source[place].lemma.lower(), segment.target
    places = sorted(j for i, j in segment.links if i == place and is_content_word(target[j]))
    strengths = {j: association(word, target[j].lemma) for j in places}
    least = MIN_ASSOCIATION * max(strengths.values(), default=0.0)
    rendering = tuple(j for j in places if strengths[j] >= least)
    return WordRendering(rendering, tuple(target[j].lemma for j in rendering))


def find_stems(target: Sequence[Token], stems: Sequence[str]) -> tuple[int, ...]:
    """The indices of a stem sequence in a translation; empty if it does not occur."""
    size = len(stems)
    found = [token.lemma for token in target]
    for start in range(len(found) - size + 1):
        if size and found[start : start + size] == list(stems):
            return tuple(range(start, start + size))
    return ()

"""Stretches: runs of paragraphs of one chapter that one worker does in order, so that each sees those before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from ape.books.pairing.book_pairing import ParagraphPair

# No more paragraphs than these are held at a time, however long a chapter is.
_HELD = 1_000


def split_into_stretches(
    pairs: Iterable[ParagraphPair], *, longest: int = 20
) -> Iterator[tuple[ParagraphPair, int]]:
    """Each pair with the number of its stretch.

    A chapter of more than `longest` paragraphs is cut into parts as equal as can be. Where the cuts fall depends on
    the book alone, so that planning again gives the same stretches.
    """
    number = 0
    for _, chapter in groupby(pairs, key=lambda pair: pair.chapter):
        while held := list(islice(chapter, max(_HELD // longest, 1) * longest)):
            parts = -(-len(held) // longest)
            for place, pair in enumerate(held):
                yield pair, number + place * parts // len(held)
            number += parts

"""Stretches: runs of paragraphs of one chapter that one worker edits in order, each with the ones before as context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from ape.books.pairing.book_pairing import ParagraphPair

# The most paragraphs in memory, however long a chapter is.
_MAX_BATCH = 1_000


def split_into_stretches(pairs: Iterable[ParagraphPair], *, longest: int = 20) -> Iterator[tuple[ParagraphPair, int]]:
    """Number the stretch of each pair.

    A chapter of more than `longest` paragraphs is split into parts of nearly equal length. The splits depend on the
    book alone, so that planning again gives the same stretches.
    """
    number = 0
    for _, chapter in groupby(pairs, key=lambda pair: pair.chapter):
        while batch := list(islice(chapter, max(_MAX_BATCH // longest, 1) * longest)):
            parts = -(-len(batch) // longest)
            for place, pair in enumerate(batch):
                yield pair, number + place * parts // len(batch)
            number += parts

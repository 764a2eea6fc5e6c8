"""Sentence-initial tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from ape.text import sentences


def sentence_starts(text: str, starts: Sequence[int]) -> tuple[int, ...]:
    """The indices of sentence-initial tokens, from the offsets of all tokens."""
    places = (0, *accumulate(map(len, sentences.split_sentences(text))))
    found = {bisect_left(starts, place) for place in places}
    return tuple(sorted(place for place in found if place < len(starts)))

"""Paragraphs that occur twice, or nearly: found by hashes of character shingles, and then compared.

Two texts are alike by the share of shingles, runs of five characters, that they have in common (Jaccard). MinHash
signatures cut into bands bring together the few that may be alike, so that a million need no million comparisons.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from finetune.data.paragraph import Paragraph

SHINGLE = 5
# Sixteen bands of four: two texts that are 0.8 alike miss each other once in 5,000 times, 0.7 alike once in 80.
BANDS, ROWS = 16, 4
# "He nodded." stands in every novel, and gives nothing away.
FEWEST_CHARACTERS = 40

_Hashes = NDArray[np.uint64]
_SPACE = re.compile(r"\W+")


def without_repeats(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Each source with its MT once; the first stays."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for one in paragraphs:
        key = (_plain(one.source), _plain(one.mt))
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept


def without_near_repeats(paragraphs: Sequence[Paragraph], *, likeness: float) -> list[Paragraph]:
    """Each source once, up to small differences; the first stays."""
    index = Index(likeness)
    kept = []
    for one in paragraphs:
        if one.source not in index:
            index.add(one.source)
            kept.append(one)
    return kept


def unlike(
    paragraphs: Sequence[Paragraph], others: Iterable[Paragraph], *, likeness: float
) -> list[Paragraph]:
    """The paragraphs that have neither source nor human version in common with any of the others, or nearly."""
    sources, humans = Index(likeness), Index(likeness)
    for other in others:
        sources.add(other.source)
        for _, text in other.humans:
            humans.add(text)
    return [
        one
        for one in paragraphs
        if one.source not in sources and not any(text in humans for _, text in one.humans)
    ]


class Index:
    """Texts, and whether one that is nearly the same is among them."""

    def __init__(self, likeness: float) -> None:
        self.likeness = likeness
        self._buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
        self._shingles: list[_Hashes] = []

    def add(self, text: str) -> None:
        """Put a text in; one that is too short to compare stays out."""
        found = shingles(text)
        if found.size:
            for key in _bands(found):
                self._buckets[key].append(len(self._shingles))
            self._shingles.append(found)

    def __contains__(self, text: str) -> bool:
        found = shingles(text)
        if not found.size:
            return False
        near = {place for key in _bands(found) for place in self._buckets.get(key, ())}
        return any(jaccard(found, self._shingles[place]) >= self.likeness for place in near)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text.casefold()).strip()


def shingles(text: str) -> _Hashes:
    """Hashes of the runs of characters in a text, each once, in order; none of a short text."""
    plain = _plain(text)
    if len(plain) < FEWEST_CHARACTERS:
        return np.empty(0, np.uint64)
    codes = np.frombuffer(plain.encode("utf-32-le", errors="replace"), dtype=np.uint32).astype(np.uint64)
    last = codes.size - SHINGLE + 1
    runs = np.zeros(last, np.uint64)
    for offset in range(SHINGLE):
        runs = runs * np.uint64(0x100000001B3) + codes[offset : offset + last]
    return np.unique(_mixed(runs))


def _mixed(values: _Hashes) -> _Hashes:
    """Bits spread evenly (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


_SALTS = _mixed(np.arange(1, BANDS * ROWS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _bands(found: _Hashes) -> list[tuple[int, bytes]]:
    lowest = _mixed(found[:, None] ^ _SALTS[None, :]).min(axis=0)
    return [(band, row.tobytes()) for band, row in enumerate(lowest.reshape(BANDS, ROWS))]


def jaccard(one: _Hashes, other: _Hashes) -> float:
    """The share of shingles that two texts have in common."""
    common = np.intersect1d(one, other, assume_unique=True).size
    return common / (one.size + other.size - common)

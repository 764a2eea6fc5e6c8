"""Duplicate and near-duplicate paragraphs, found by MinHash of character shingles and then compared.

Two texts are alike by the share of shingles, runs of five letters, that they have in common (Jaccard); a character
that says more than a letter counts as several. MinHash signatures cut into bands bring together the few that may be
alike, so that a million need no million comparisons. Source and MT that are both the same are seen however short.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from finetune.data.paragraph import TrainingParagraph

SHINGLE = 5
# Sixteen bands of four: two texts that are 0.8 alike miss each other once in 5,000 times, 0.7 alike once in 80.
BANDS, ROWS = 16, 4
# "He nodded." occurs in every novel, and is not a leak.
MIN_LETTERS = 40

# What characters are worth in letters, from each of these on. A Chinese novel of 18,965 was 3.4 times as long in
# English; kana and Hangul are syllables. Thai, Lao, Khmer and Burmese have no spaces, but they have letters.
_LETTERS_BY_CODE_POINT = {
    0x0: 1,
    0x3041: 2, 0x3100: 1,  # Hiragana and Katakana
    0x3400: 3, 0xA000: 1,  # Han
    0xAC00: 2, 0xD7A4: 1,  # Hangul
    0xF900: 3, 0xFB00: 1,  # Han, for compatibility
    0x20000: 3, 0x40000: 1,  # Han, the rarer ones
}  # fmt: skip
_FROM, _LETTERS = np.array([*_LETTERS_BY_CODE_POINT]), np.array([*_LETTERS_BY_CODE_POINT.values()])

_Hashes = NDArray[np.uint64]
_SPACE = re.compile(r"\W+")


def drop_duplicates(paragraphs: Sequence[TrainingParagraph]) -> list[TrainingParagraph]:
    """Drop repeated pairs of source and MT; the first stays."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for one in paragraphs:
        key = _source_and_mt(one)
        if key not in seen:
            seen.add(key)
            kept.append(one)
    return kept


def drop_near_duplicates(paragraphs: Sequence[TrainingParagraph], *, likeness: float) -> list[TrainingParagraph]:
    """Drop near-duplicate sources; the first stays."""
    index = NearDuplicateIndex(likeness)
    kept = []
    for one in paragraphs:
        if one.source not in index:
            index.add(one.source)
            kept.append(one)
    return kept


def drop_overlapping(
    paragraphs: Sequence[TrainingParagraph], others: Iterable[TrainingParagraph], *, likeness: float
) -> list[TrainingParagraph]:
    """Keep paragraphs whose source and human version have no near-duplicate among the others.

    A commonplace is common to all books; it counts where the MT is the same as well.
    """
    sources, humans = NearDuplicateIndex(likeness), NearDuplicateIndex(likeness)
    pairs: set[tuple[str, str]] = set()
    for other in others:
        pairs.add(_source_and_mt(other))
        sources.add(other.source)
        for _, text in other.humans:
            humans.add(text)
    return [
        one
        for one in paragraphs
        if _source_and_mt(one) not in pairs
        and one.source not in sources
        and not any(text in humans for _, text in one.humans)
    ]


class NearDuplicateIndex:
    """Index of texts that finds near-duplicates."""

    def __init__(self, likeness: float) -> None:
        self.likeness = likeness
        self._buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
        self._shingles: list[_Hashes] = []

    def add(self, text: str) -> None:
        """Add a text unless it is too short to compare."""
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


def _source_and_mt(paragraph: TrainingParagraph) -> tuple[str, str]:
    """The text that a model sees."""
    return _plain(paragraph.source), _plain(paragraph.mt)


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text.casefold()).strip()


def shingles(text: str) -> _Hashes:
    """Distinct hashes of the character shingles of a text, sorted; none for a short text."""
    codes = _letters(_plain(text))
    if codes.size < MIN_LETTERS:
        return np.empty(0, np.uint64)
    last = codes.size - SHINGLE + 1
    runs = np.zeros(last, np.uint64)
    for offset in range(SHINGLE):
        runs = runs * np.uint64(0x100000001B3) + codes[offset : offset + last]
    return np.unique(_mixed(runs))


def _letters(plain: str) -> _Hashes:
    """The characters, each repeated by its weight in letters."""
    codes = np.frombuffer(plain.encode("utf-32-le", errors="replace"), dtype=np.uint32).astype(np.uint64)
    return np.repeat(codes, _LETTERS[np.searchsorted(_FROM, codes, side="right") - 1])


def _mixed(values: _Hashes) -> _Hashes:
    """Mix the bits (finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


_SALTS = _mixed(np.arange(1, BANDS * ROWS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _bands(found: _Hashes) -> list[tuple[int, bytes]]:
    lowest = _mixed(found[:, None] ^ _SALTS[None, :]).min(axis=0)
    return [(band, row.tobytes()) for band, row in enumerate(lowest.reshape(BANDS, ROWS))]


def jaccard(one: _Hashes, other: _Hashes) -> float:
    """Jaccard similarity of two shingle sets."""
    common = np.intersect1d(one, other, assume_unique=True).size
    return common / (one.size + other.size - common)

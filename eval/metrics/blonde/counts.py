"""Counts of every type by line, for an output and its references, vectorised over all lines.

The tokens of all sides are one array of word numbers. An n-gram is numbered by its first n−1 words' number and its last
word; renumbering by sorting keeps numbers small, and two n-grams are equal exactly if their numbers are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from itertools import count as counting
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.linguistics.annotators.protocol import Annotation
from eval.metrics.blonde.categories import (
    CATEGORIES,
    ENTITY_OF,
    MARKER_OF,
    N_GRAM_ORDERS,
    PRONOUN_OF,
    TENSE_OF,
    TYPE_COUNT,
    category_columns,
)
from eval.statistics.counts import FloatArray

IndexArray: TypeAlias = NDArray[np.int64]
AnnotatedLines: TypeAlias = Sequence[Annotation]


@dataclass(frozen=True, slots=True)
class BlondeCounts:
    """(lines, types) arrays of matches, reference counts (the largest of all references) and output counts."""

    match: FloatArray
    reference: FloatArray
    output: FloatArray

    def rows(self) -> FloatArray:
        """The three arrays side by side."""
        return np.hstack((self.match, self.reference, self.output))


def count_types(
    output: AnnotatedLines, references: Sequence[AnnotatedLines], *, lowercase: bool = False
) -> BlondeCounts:
    """Count all types that the annotations show."""
    sides = (output, *references)
    lines = len(output)
    stream = _stream(sides, lines)
    # (sides, lines, types)
    each = np.zeros((len(sides), lines, TYPE_COUNT))
    each[:, :, category_columns("tense")] = _tenses(stream, each.shape)
    each[:, :, category_columns("pronoun")] = _pronouns(stream, each.shape)
    each[:, :, category_columns("dm")] = _markers(stream, each.shape)
    reference = each[1:].max(axis=0)
    counts = BlondeCounts(np.minimum(each[0], reference), reference, each[0])
    _count_n_grams(counts, stream, len(sides), lowercase=lowercase)
    _count_names(counts, sides, lowercase=lowercase)
    return counts


# --- the tokens of all sides as one stream -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Stream:
    """All tokens as numbers."""

    rows: IndexArray
    """The row of each token; the rows of each side follow those of the previous one."""
    words: IndexArray
    small: IndexArray
    """The number of the lower-cased word."""
    tenses: IndexArray
    small_words: Mapping[str, int]
    """The words that `small` numbers."""
    different: int
    """The number of distinct words."""


def _stream(sides: Sequence[AnnotatedLines], lines: int) -> _Stream:
    annotations = [one.tokens for side in sides for one in side]
    tokens = list(chain.from_iterable(annotations))
    vocabulary, words = _numbered([token.text for token in tokens])
    small_words, small = _numbered([word.lower() for word in vocabulary])
    return _Stream(
        np.repeat(np.arange(len(sides) * lines), _lengths(annotations)),
        words,
        small[words],
        _kinds_of([token.tag for token in tokens], TENSE_OF),
        small_words,
        len(vocabulary),
    )


def _lengths(lists: Sequence[Sequence[object]]) -> IndexArray:
    return np.fromiter(map(len, lists), np.int64, len(lists))


def _numbered(things: Sequence[str]) -> tuple[Mapping[str, int], IndexArray]:
    """Number distinct items in the order of first occurrence."""
    numbers: defaultdict[str, int] = defaultdict(counting().__next__)
    return numbers, np.fromiter(map(numbers.__getitem__, things), np.int64, len(things))


def _kinds_of(things: Sequence[str], table: Mapping[str, int]) -> IndexArray:
    """The kind of each item in the table, or −1."""
    return np.fromiter(map(table.get, things, repeat(-1)), np.int64, len(things))


def _kinds(numbers: Mapping[str, int], table: Mapping[str, int]) -> IndexArray:
    """The kind of each word number in the table, or −1."""
    kinds = np.full(len(numbers), -1)
    for word, kind in table.items():
        if word in numbers:
            kinds[numbers[word]] = kind
    return kinds


def _by_line(rows: IndexArray, kinds: IndexArray, shape: tuple[int, ...], number: int) -> FloatArray:
    """(sides, lines, kinds): occurrences of each kind in each line; −1 is ignored."""
    here = np.flatnonzero(kinds >= 0)
    counted = np.bincount(rows[here] * number + kinds[here], minlength=shape[0] * shape[1] * number)
    return counted.reshape(shape[0], shape[1], number).astype(float)


def _tenses(stream: _Stream, shape: tuple[int, ...]) -> FloatArray:
    return _by_line(stream.rows, stream.tenses, shape, len(CATEGORIES["tense"]))


def _pronouns(stream: _Stream, shape: tuple[int, ...]) -> FloatArray:
    kinds = _kinds(stream.small_words, PRONOUN_OF)[stream.small]
    return _by_line(stream.rows, kinds, shape, len(CATEGORIES["pronoun"]))


# --- discourse markers -----------------------------------------------------------------------------------------------


def _markers(stream: _Stream, shape: tuple[int, ...]) -> FloatArray:
    numbers, number = stream.small_words, len(CATEGORIES["dm"])
    single = {marker[0]: kind for marker, kind in MARKER_OF.items() if len(marker) == 1}
    counted = _by_line(stream.rows, _kinds(numbers, single)[stream.small], shape, number)
    for marker, kind in MARKER_OF.items():
        if len(marker) > 1 and all(word in numbers for word in marker):
            starts = _occurrences(stream.rows, stream.small, [numbers[word] for word in marker])
            counted += _by_line(stream.rows[starts], np.full(len(starts), kind), shape, number)
    return counted


def _occurrences(rows: IndexArray, words: IndexArray, phrase: Sequence[int]) -> IndexArray:
    """The starts of a phrase that lies within one line."""
    starts = np.flatnonzero(words[: max(len(words) - len(phrase) + 1, 0)] == phrase[0])
    for step, word in enumerate(phrase[1:], 1):
        starts = starts[(words[starts + step] == word) & (rows[starts + step] == rows[starts])]
    return starts


# --- n-grams and names, compared by their words --------------------------------------------------------------------


def _count_n_grams(counts: BlondeCounts, stream: _Stream, sides: int, *, lowercase: bool) -> None:
    words, rows = stream.small if lowercase else stream.words, stream.rows
    lines = max(len(counts.output), 1)
    # The number of the n-gram that starts at each token; initially, the number of the line.
    grams = rows % lines
    for step, _ in enumerate(N_GRAM_ORDERS):
        starts = np.flatnonzero(rows[step:] == rows[: max(len(rows) - step, 0)])
        longer = grams[starts] * stream.different + words[starts + step]
        distinct, numbers = np.unique(longer, return_inverse=True)
        grams[starts] = numbers
        _count_items(counts, category_columns("n-grams").start + step, rows[starts], numbers, len(distinct), sides)


def _count_items(
    counts: BlondeCounts, column: int, rows: IndexArray, items: IndexArray, distinct: int, sides: int
) -> None:
    """Add to a column the matches of the items, line by line."""
    lines = len(counts.output)
    each = np.bincount((rows // max(lines, 1)) * distinct + items, minlength=sides * distinct)
    output, *references = each.reshape(sides, distinct)
    reference = np.maximum.reduce(references)
    line_of = np.zeros(distinct, dtype=np.int64)
    line_of[items] = rows % max(lines, 1)
    counts.match[:, column] = np.bincount(line_of, np.minimum(output, reference), lines)
    counts.reference[:, column] = np.bincount(line_of, reference, lines)
    counts.output[:, column] = np.bincount(line_of, output, lines)


def _count_names(counts: BlondeCounts, sides: Sequence[AnnotatedLines], *, lowercase: bool) -> None:
    lines = max(len(counts.output), 1)
    each = [one.entities for side in sides for one in side]
    entities = list(chain.from_iterable(each))
    rows = np.repeat(np.arange(len(each)), _lengths(each))
    kinds = _kinds_of([entity.label for entity in entities], ENTITY_OF)
    texts, names = _numbered([entity.text.lower() if lowercase else entity.text for entity in entities])
    for kind, _ in enumerate(CATEGORIES["entity"]):
        here = np.flatnonzero(kinds == kind)
        distinct, items = np.unique(rows[here] % lines * len(texts) + names[here], return_inverse=True)
        _count_items(counts, category_columns("entity").start + kind, rows[here], items, len(distinct), len(sides))

"""Agreement beyond chance, folded from sums over items: Krippendorff's α, Cohen's and Fleiss' κ, Gwet's AC1.

A row is an item; any sum of rows is folded, so a bootstrap over items is a product of matrices. Answers are coded
from 0 on, in their order where they have one; items with fewer than two answers say nothing about agreement and are
left out.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.statistics.counts import FloatArray, Fold, ratio

AnswerScale: TypeAlias = Literal["nominal", "ordinal"]
AnswerCodes: TypeAlias = NDArray[np.integer[Any]]


def answer_counts(codes: AnswerCodes, categories: int) -> FloatArray:
    """Of (items, raters), with −1 for no answer: how often each answer was given, by item, where there are two."""
    items = len(codes)
    given = codes >= 0
    cells = (np.arange(items)[:, None] * categories + codes)[given]
    counts = np.bincount(cells, minlength=items * categories).reshape(items, categories).astype(np.float64)
    kept: FloatArray = counts[counts.sum(axis=1) > 1]
    return kept


def coincidence_rows(counts: FloatArray) -> FloatArray:
    """Rows for α: of each item, how often each two answers meet."""
    number = counts.sum(axis=1)[:, None, None]
    met = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    rows: FloatArray = (met / (number - 1)).reshape(len(counts), -1)
    return rows


def krippendorff_alpha(categories: int, scale: AnswerScale = "nominal") -> Fold:
    """Krippendorff's (2011), from sums of `coincidences`."""
    apart = 1.0 - np.eye(categories)

    def fold(sums: FloatArray) -> FloatArray:
        met = sums.reshape(*sums.shape[:-1], categories, categories)
        given = met.sum(axis=-1)
        far = apart if scale == "nominal" else _ordinal(given)
        found = (met * far).sum(axis=(-2, -1))
        expected = (given[..., :, None] * given[..., None, :] * far).sum(axis=(-2, -1))
        return 1 - ratio((given.sum(axis=-1) - 1) * found, expected)

    return fold


def _ordinal(given: FloatArray) -> FloatArray:
    """As far apart as there are answers between two, those of the two themselves by half."""
    middle = np.cumsum(given, axis=-1) - given / 2
    squared: FloatArray = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squared


def agreement_rows(counts: FloatArray) -> FloatArray:
    """Rows for Fleiss' κ and AC1: share of agreeing pairs, 1, and then the answers as counts and as shares."""
    number = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1) / (number * (number - 1))
    return np.column_stack([alike, np.ones(len(counts)), counts, counts / number[:, None]])


def fleiss_kappa(categories: int) -> Fold:
    """Fleiss' κ (1971), from sums of `agreements`; items may have different numbers of answers."""

    def fold(sums: FloatArray) -> FloatArray:
        counts = sums[..., 2 : 2 + categories]
        shares = ratio(counts, counts.sum(axis=-1, keepdims=True))
        return _beyond(ratio(sums[..., 0], sums[..., 1]), (shares**2).sum(axis=-1))

    return fold


def gwet_ac1(categories: int) -> Fold:
    """Gwet's AC1 (2008), from sums of `agreements`: chance is what guessing on hard items would do."""

    def fold(sums: FloatArray) -> FloatArray:
        shares = ratio(sums[..., 2 + categories :], sums[..., 1:2])
        chance = (shares * (1 - shares)).sum(axis=-1) / (categories - 1)
        return _beyond(ratio(sums[..., 0], sums[..., 1]), chance)

    return fold


def contingency_rows(first: AnswerCodes, second: AnswerCodes, categories: int) -> FloatArray:
    """Rows for Cohen's κ: of each item that both answered, the cell of their table."""
    both = (first >= 0) & (second >= 0)
    cells = (first * categories + second)[both]
    rows: FloatArray = np.eye(categories * categories)[cells]
    return rows


def cohen_kappa(categories: int) -> Fold:
    """Cohen's κ (1960), from sums of `crossed`."""

    def fold(sums: FloatArray) -> FloatArray:
        table = sums.reshape(*sums.shape[:-1], categories, categories)
        number = table.sum(axis=(-2, -1))
        alike = ratio(np.trace(table, axis1=-2, axis2=-1), number)
        by_chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
        return _beyond(alike, ratio(by_chance, number**2))

    return fold


def _beyond(alike: FloatArray, chance: FloatArray) -> FloatArray:
    return ratio(alike - chance, 1 - chance)

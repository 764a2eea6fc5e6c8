"""Chance-corrected inter-rater agreement: Krippendorff's α, Cohen's κ, Fleiss' κ and Gwet's AC1.

Each coefficient is folded from sums of per-item rows, so a bootstrap over items is a matrix product. Answers are coded
from 0, in their order on an ordinal scale. Items with fewer than two answers carry no information and are left out.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.statistics.counts import FloatArray, Fold, ratio

AnswerScale: TypeAlias = Literal["nominal", "ordinal"]
AnswerCodes: TypeAlias = NDArray[np.integer[Any]]


def answer_counts(codes: AnswerCodes, categories: int) -> FloatArray:
    """Count each answer of each item with at least two, from (items, raters) codes where −1 is no answer."""
    items = len(codes)
    cells = (np.arange(items)[:, None] * categories + codes)[codes >= 0]
    counts = np.bincount(cells, minlength=items * categories).reshape(items, categories).astype(np.float64)
    comparable: FloatArray = counts[counts.sum(axis=1) > 1]
    return comparable


def coincidence_rows(counts: FloatArray) -> FloatArray:
    """Rows for α: the coincidence matrix of each item."""
    number = counts.sum(axis=1)[:, None, None]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(counts.shape[1])
    rows: FloatArray = (pairs / (number - 1)).reshape(len(counts), -1)
    return rows


def krippendorff_alpha(categories: int, scale: AnswerScale = "nominal") -> Fold:
    """Krippendorff's α (2011), folded from sums of `coincidence_rows`."""
    nominal = 1.0 - np.eye(categories)

    def fold(sums: FloatArray) -> FloatArray:
        coincidences = sums.reshape(*sums.shape[:-1], categories, categories)
        totals = coincidences.sum(axis=-1)
        distance = nominal if scale == "nominal" else _ordinal_distance(totals)
        observed = (coincidences * distance).sum(axis=(-2, -1))
        expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
        return 1 - ratio((totals.sum(axis=-1) - 1) * observed, expected)

    return fold


def _ordinal_distance(totals: FloatArray) -> FloatArray:
    """Squared number of answers between two categories, half of each category's own answers included."""
    middle = np.cumsum(totals, axis=-1) - totals / 2
    squared: FloatArray = (middle[..., :, None] - middle[..., None, :]) ** 2
    return squared


def agreement_rows(counts: FloatArray) -> FloatArray:
    """Rows for Fleiss' κ and AC1: share of agreeing pairs, 1, the answers as counts and the answers as shares."""
    number = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (number * (number - 1))
    return np.column_stack([agreeing, np.ones(len(counts)), counts, counts / number[:, None]])


def fleiss_kappa(categories: int) -> Fold:
    """Fleiss' κ (1971), folded from sums of `agreement_rows`; the number of answers may differ between items."""

    def fold(sums: FloatArray) -> FloatArray:
        counts = sums[..., 2 : 2 + categories]
        shares = ratio(counts, counts.sum(axis=-1, keepdims=True))
        return _beyond_chance(ratio(sums[..., 0], sums[..., 1]), (shares**2).sum(axis=-1))

    return fold


def gwet_ac1(categories: int) -> Fold:
    """Gwet's AC1 (2008), folded from sums of `agreement_rows`; chance agreement is that of guesses on hard items."""

    def fold(sums: FloatArray) -> FloatArray:
        shares = ratio(sums[..., 2 + categories :], sums[..., 1:2])
        chance = (shares * (1 - shares)).sum(axis=-1) / (categories - 1)
        return _beyond_chance(ratio(sums[..., 0], sums[..., 1]), chance)

    return fold


def contingency_rows(first: AnswerCodes, second: AnswerCodes, categories: int) -> FloatArray:
    """Rows for Cohen's κ: the contingency-table cell of each item that both raters answered."""
    both = (first >= 0) & (second >= 0)
    cells = (first * categories + second)[both]
    rows: FloatArray = np.eye(categories * categories)[cells]
    return rows


def cohen_kappa(categories: int) -> Fold:
    """Cohen's κ (1960), folded from sums of `contingency_rows`."""

    def fold(sums: FloatArray) -> FloatArray:
        table = sums.reshape(*sums.shape[:-1], categories, categories)
        number = table.sum(axis=(-2, -1))
        observed = ratio(np.trace(table, axis1=-2, axis2=-1), number)
        expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
        return _beyond_chance(observed, ratio(expected, number**2))

    return fold


def _beyond_chance(observed: FloatArray, chance: FloatArray) -> FloatArray:
    return ratio(observed - chance, 1 - chance)

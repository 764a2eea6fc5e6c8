"""Folds from sums of counts to BlonDe: recall and precision of each key, their geometric means, and the F1 of these.

A row has three counts of each type: matched, in the reference, in the output. All operations are on the last axis, so
thousands of resamples fold at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from eval.metrics.blonde.categories import BLONDE_PLUS_CATEGORIES, CATEGORIES, TYPE_COUNT, category_columns
from eval.statistics.counts import FloatArray, Fold, ratio

SMOOTHING_FLOOR = 1e-5
DISCOURSE_CATEGORIES = ("tense", "pronoun", "entity", "dm")
N_GRAM_KEYS = CATEGORIES["n-grams"]


@dataclass(frozen=True, slots=True)
class BlondeWeights:
    """Weights of types within a category; categories not listed have equal weights.

    As in the reference code, neuter and epicene pronouns and all names except persons have weight 0.
    """

    pronoun: tuple[float, float, float, float] = (0.5, 0.5, 0.0, 0.0)
    """Masculine, feminine, neuter, epicene."""
    entity: tuple[float, float] = (1.0, 0.0)
    """Persons, and all other names; (½, ½) in the reference's README."""

    def category_weights(self, category: str) -> tuple[float, ...]:
        """The weights of a category's types."""
        if category == "pronoun":
            return self.pronoun
        if category == "entity":
            return self.entity
        types = CATEGORIES[category]
        return (1 / len(types),) * len(types)


PUBLISHED_WEIGHTS = BlondeWeights()


def f1_fold(keys: Sequence[str], weights: BlondeWeights) -> Fold:
    """BlonDe over some keys."""
    return partial(_f1, mixture=_mixture(keys, weights), smoothed=_smoothed(keys))


def recall_fold(keys: Sequence[str], weights: BlondeWeights) -> Fold:
    """The geometric mean of the keys' recalls."""
    return partial(_mean, total=1, mixture=_mixture(keys, weights), smoothed=_smoothed(keys))


def precision_fold(keys: Sequence[str], weights: BlondeWeights) -> Fold:
    """The geometric mean of the keys' precisions."""
    return partial(_mean, total=2, mixture=_mixture(keys, weights), smoothed=_smoothed(keys))


def category_fold(key: str, weights: BlondeWeights) -> Fold:
    """The F1 of one key, without a floor: 0 without matches, NaN if neither side has any."""
    return partial(_plain_f1, mixture=_mixture((key,), weights))


def _mixture(keys: Sequence[str], weights: BlondeWeights) -> FloatArray:
    """(types, keys): the weight of each type in each key."""
    mixture = np.zeros((TYPE_COUNT, len(keys)))
    for place, key in enumerate(keys):
        if key in N_GRAM_KEYS:
            # An order is a key by itself: its weight cancels, and 1 leaves the smoothing unchanged.
            mixture[category_columns("n-grams").start + N_GRAM_KEYS.index(key), place] = 1
        elif key in BLONDE_PLUS_CATEGORIES:
            mixture[category_columns("plus").start + BLONDE_PLUS_CATEGORIES.index(key), place] = 1
        else:
            mixture[category_columns(key), place] = weights.category_weights(key)
    return mixture


def _smoothed(keys: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([key in N_GRAM_KEYS for key in keys])


def _sums(sums: FloatArray, mixture: FloatArray) -> FloatArray:
    """(…, 3, keys)."""
    return np.reshape(sums, (*sums.shape[:-1], 3, TYPE_COUNT)) @ mixture


def _rates(match: FloatArray, total: FloatArray, smoothed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> FloatArray:
    """Matched shares, NaN where the total is 0; n-grams are smoothed like sacrebleu's "exp"."""
    rates = ratio(match, total)
    nothing = smoothed & (match == 0) & (total > 0)
    halvings = np.cumsum(nothing, axis=-1)
    return np.where(nothing, ratio(np.ones_like(total), total * 2.0**halvings), rates)


def _mean(
    sums: FloatArray, *, total: int, mixture: FloatArray, smoothed: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> FloatArray:
    of_keys = _sums(sums, mixture)
    rates = _rates(of_keys[..., 0, :], of_keys[..., total, :], smoothed)
    defined = ~np.isnan(rates)
    logs = np.where(defined, np.log(np.maximum(np.where(defined, rates, 1.0), SMOOTHING_FLOOR)), 0.0)
    number = defined.sum(axis=-1)
    mean: FloatArray = np.exp(ratio(logs.sum(axis=-1), number))
    return mean


def _f1(sums: FloatArray, *, mixture: FloatArray, smoothed: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> FloatArray:
    of_reference = _mean(sums, total=1, mixture=mixture, smoothed=smoothed)
    of_output = _mean(sums, total=2, mixture=mixture, smoothed=smoothed)
    # An output with nothing to count has no precision: it counts as 0.
    of_output = np.where(np.isnan(of_output), 0.0, of_output)
    return ratio(2 * of_reference * of_output, of_reference + of_output)


def _plain_f1(sums: FloatArray, *, mixture: FloatArray) -> FloatArray:
    match, reference, output = np.moveaxis(_sums(sums, mixture)[..., 0], -1, 0)
    return ratio(2 * match, reference + output)

"""Resamples of items, as sums of their rows. Equal rows are drawn together, so what is drawn is counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ape.errors import InputError
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.proportion import CONFIDENCE_LEVEL

BOOTSTRAP_SAMPLES = 2000
# Counts held at once, some 30 MB, however many items differ.
_CELLS = 1 << 22


def resample_row_sums(rows: FloatArray, *, samples: int, seed: int) -> FloatArray:
    """The sums of as many rows as there are, drawn with replacement: (samples, columns)."""
    if samples < 1:
        raise InputError(f"There must be at least one resample, not {samples}.", field="samples")
    kinds, number = np.unique(rows, axis=0, return_counts=True)
    chance = np.random.default_rng(seed)
    most = max(1, _CELLS // len(kinds))
    sizes = [min(most, samples - done) for done in range(0, samples, most)]
    shares = number / len(rows)
    return np.concatenate(
        [chance.multinomial(len(rows), shares, size=size).astype(np.float64) @ kinds for size in sizes]
    )


def bootstrap_interval(
    rows: FloatArray,
    fold: Callable[[FloatArray], FloatArray],
    *,
    samples: int,
    seed: int,
    level: float = CONFIDENCE_LEVEL,
) -> ConfidenceInterval | Unmeasured:
    """A score folded from sums of rows, and where it lies in most of the resamples."""
    if len(rows) < 2:
        return Unmeasured("there are fewer than two items, and chance can't be told from one")
    value = float(fold(rows.sum(axis=0)))
    if np.isnan(value):
        return Unmeasured("all said the same, so what chance would do can't be told")
    return percentile_interval(value, fold(resample_row_sums(rows, samples=samples, seed=seed)), level=level)


def percentile_interval(
    value: float, found: FloatArray, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval | Unmeasured:
    """The percentile interval of what resamples gave, NaN where one had nothing to say."""
    known = found[~np.isnan(found)]
    if not len(known):
        return Unmeasured("in none of the resamples was there anything to measure")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return ConfidenceInterval(value, float(low), float(high), len(found), len(found) - len(known))

"""Cluster bootstrap over rows of statistics, one row per item or document.

Equal rows are drawn together by a multinomial, so a resample is a vector of counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError
from eval.statistics.counts import FloatArray, Fold, Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.proportion import CONFIDENCE_LEVEL

BOOTSTRAP_SAMPLES = 2000
# Counts held in memory: about 30 MB, whatever the number of distinct rows.
_CELLS = 1 << 22


def sum_rows_by_cluster(rows: FloatArray, clusters: NDArray[np.integer[Any]]) -> FloatArray:
    """Sum the rows of each cluster, in the order of the sorted cluster numbers."""
    _, indices = np.unique(clusters, return_inverse=True)
    sums = np.zeros((int(indices.max()) + 1, rows.shape[1]))
    np.add.at(sums, indices, rows)
    return sums


def resample_row_sums(rows: FloatArray, *, samples: int, seed: int) -> FloatArray:
    """Draw as many rows as there are, with replacement, and sum them: (samples, columns)."""
    if samples < 1:
        raise InputError(f"There must be at least one resample, not {samples}.", field="samples")
    distinct, number = np.unique(rows, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    most = max(1, _CELLS // len(distinct))
    sizes = [min(most, samples - done) for done in range(0, samples, most)]
    shares = number / len(rows)
    return np.concatenate(
        [rng.multinomial(len(rows), shares, size=size).astype(np.float64) @ distinct for size in sizes]
    )


def bootstrap_interval(
    rows: FloatArray, fold: Fold, *, samples: int, seed: int, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval | Unmeasured:
    """Fold the sum of all rows into a score, with its percentile bootstrap interval."""
    if len(rows) < 2:
        return Unmeasured("there are fewer than two items, too few for an interval")
    value = float(fold(rows.sum(axis=0)))
    if np.isnan(value):
        return Unmeasured("all answers are the same, so the statistic is undefined")
    return percentile_interval(value, fold(resample_row_sums(rows, samples=samples, seed=seed)), level=level)


def percentile_interval(
    value: float, scores: FloatArray, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval | Unmeasured:
    """Percentile interval of the scores of all resamples; NaN scores are counted as undefined and left out."""
    known = scores[~np.isnan(scores)]
    if not len(known):
        return Unmeasured("in none of the resamples was there anything to measure")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return ConfidenceInterval(value, float(low), float(high), len(scores), len(scores) - len(known))

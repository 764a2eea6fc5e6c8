"""Kruskal and Wallis's (1952) test of whether groups differ in rank, with a bootstrap interval of the effect size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.proportion import CONFIDENCE_LEVEL
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, percentile_interval


@dataclass(frozen=True, slots=True)
class KruskalWallis:
    """Test result, with the effect size and the mean rank of each group."""

    statistic: float
    """H, corrected for ties."""
    freedom: int
    p_value: float
    """By the χ² approximation."""
    effect: ConfidenceInterval | Unmeasured
    """ε² = H / (n − 1): 0 for mixed groups, 1 for separated groups; resampled within the groups."""
    mean_ranks: Mapping[str, float]
    """Among all values; the smallest value has rank 1."""
    values: int


def kruskal_wallis(
    groups: Mapping[str, Sequence[float] | FloatArray],
    *,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 1,
    level: float = CONFIDENCE_LEVEL,
) -> KruskalWallis | Unmeasured:
    """Test ranks or scores by group."""
    from scipy.stats import chi2, rankdata  # type: ignore[import-untyped]

    sizes = [len(group) for group in groups.values()]
    if len(sizes) < 2 or min(sizes) < 2:
        return Unmeasured("there are fewer than two groups with two values each")
    values = np.concatenate([np.asarray(group, np.float64) for group in groups.values()])
    if np.isnan(values).any():
        return Unmeasured("a value is missing (NaN), so there is no order")
    if not np.ptp(values):
        return Unmeasured("all values are the same, so there is no order")
    statistic = float(_statistics(values[None], sizes)[0])
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes[:-1]])
    indices = [start + rng.integers(size, size=(samples, size)) for start, size in zip(starts, sizes, strict=True)]
    resampled = _statistics(values[np.concatenate(indices, axis=1)], sizes)
    parts = np.split(rankdata(values), starts[1:])
    means = {name: float(part.mean()) for name, part in zip(groups, parts, strict=True)}
    freedom, number = len(sizes) - 1, len(values)
    effect = percentile_interval(statistic / (number - 1), resampled / (number - 1), level=level)
    return KruskalWallis(statistic, freedom, float(chi2.sf(statistic, freedom)), effect, means, number)


def _statistics(values: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """H of each row: variance between the groups' ranks over the variance of all ranks."""
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    number = values.shape[1]
    middle = (number + 1) / 2
    starts = np.cumsum([0, *sizes[:-1]])
    sums = np.add.reduceat(ranks, starts, axis=1)
    between = (sums**2 / np.asarray(sizes)).sum(axis=1) - number * middle**2
    total = ((ranks - middle) ** 2).sum(axis=1)
    statistics: FloatArray = np.divide((number - 1) * between, total, out=np.full(len(values), np.nan), where=total > 0)
    return statistics

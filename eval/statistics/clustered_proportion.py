"""Proportion of clustered votes: an interval and an exact test that allow for correlation within items or documents.

Several raters on one item are not independent, and neither are the passages of a document that is read as a whole; a
binomial test over single votes then rejects too often. The interval is Wilson's on the effective number of votes (Korn
and Graubard 1998, with their correction for few clusters). The test flips the sign of each whole cluster at random;
with one vote per cluster it equals the exact two-sided binomial test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from eval.statistics.counts import FloatArray
from eval.statistics.proportion import CONFIDENCE_LEVEL, ProportionBounds, wilson_bounds


@dataclass(frozen=True, slots=True)
class ClusteredProportion:
    """Interval and test of a rate whose sampling unit is a cluster of votes."""

    items: int
    """Number of clusters: items, or documents where votes are clustered by document."""
    effective_votes: float
    """Number of independent votes that would carry as much information."""
    bounds: ProportionBounds
    p_value: float
    """Exact and two-sided."""
    worth: float
    """Information of one vote relative to an independent vote, without the correction for few clusters."""


def clustered_proportion(
    wins: Sequence[float] | FloatArray, votes: Sequence[float] | FloatArray, *, level: float = CONFIDENCE_LEVEL
) -> ClusteredProportion:
    """Compute the interval and the test from the wins and votes of each cluster; at least one vote is needed."""
    won, counts = np.asarray(wins, np.float64), np.asarray(votes, np.float64)
    won, counts = won[counts > 0], counts[counts > 0]
    total = float(counts.sum())
    rate = float(won.sum() / total)
    worth = _relative_information(won, counts, rate)
    effective = min(total, worth * total * _few_clusters_correction(len(counts), rate, level=level))
    wilson = wilson_bounds(rate * effective, effective, level=level)
    bounds = ProportionBounds(wilson.low, wilson.high, "Wilson, on effective votes", level)
    return ClusteredProportion(len(counts), effective, bounds, sign_flip_p_value(2 * won - counts), min(1.0, worth))


def clustered_proportion_by_unit(
    units: Sequence[Hashable], wins: Sequence[float], *, level: float = CONFIDENCE_LEVEL
) -> ClusteredProportion | None:
    """Compute the same from single votes, each with its cluster; None if every cluster has one vote."""
    counts = Counter(units)
    if len(counts) == len(units):
        return None
    sums = dict.fromkeys(counts, 0.0)
    for unit, won in zip(units, wins, strict=True):
        sums[unit] += won
    return clustered_proportion(list(sums.values()), list(counts.values()), level=level)


def _relative_information(won: FloatArray, counts: FloatArray, rate: float) -> float:
    clusters, total = len(counts), float(counts.sum())
    if _has_no_variance(clusters, rate):
        return clusters / total
    variance = clusters / (clusters - 1) * float(((won - rate * counts) ** 2).sum()) / total**2
    return rate * (1 - rate) / variance / total if variance > 0 else 1.0


def _few_clusters_correction(clusters: int, rate: float, *, level: float) -> float:
    from scipy.stats import norm, t  # type: ignore[import-untyped]

    if _has_no_variance(clusters, rate):
        return 1.0
    tail = (1 - level) / 2
    return float(norm.isf(tail) / t.isf(tail, clusters - 1)) ** 2


def _has_no_variance(clusters: int, rate: float) -> bool:
    """The variance between clusters can't be estimated; each cluster then counts as one vote."""
    return clusters == 1 or rate in (0.0, 1.0)


def sign_flip_p_value(nets: Sequence[float] | FloatArray) -> float:
    """Exact two-sided sign-flip test of the sum of whole numbers, from its full distribution."""
    sizes = np.abs(np.rint(np.asarray(nets))).astype(int)
    observed, reach = abs(int(np.rint(np.sum(nets)))), int(sizes.sum())
    probability = np.zeros(2 * reach + 1)
    probability[reach] = 1.0
    for size in sizes[sizes > 0]:
        probability = (np.roll(probability, size) + np.roll(probability, -size)) / 2
    sums = np.abs(np.arange(-reach, reach + 1))
    return min(1.0, float(probability[sums >= observed].sum()))

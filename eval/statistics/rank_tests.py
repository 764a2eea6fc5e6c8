"""Tests that look only at order: two systems' scores passage by passage, and a metric beside human judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ape.errors import InputError
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.paired_tests import CONFIDENCE_LEVEL, DEFAULT_SAMPLES


@dataclass(frozen=True, slots=True)
class WilcoxonResult:
    """A Wilcoxon signed-rank test, two-sided, by the normal approximation."""

    z: float
    """Above zero where the second has the higher scores."""
    p_value: float
    effect: float
    """r = |z| / √pairs: .1 is small, .3 medium, .5 large."""
    pairs: int
    ties: int
    """They keep their ranks and take no side (Pratt 1959)."""


@dataclass(frozen=True, slots=True)
class KendallResult:
    """Kendall's τ-b with its bootstrap interval."""

    tau: float
    low: float
    high: float
    p_value: float
    pairs: int
    samples: int
    undefined: int
    """So many of the resamples had only one value on a side; they are left out."""


def wilcoxon_pratt(
    first: Sequence[float] | FloatArray, second: Sequence[float] | FloatArray
) -> WilcoxonResult:
    """Whether the second's scores of the same passages are higher or lower."""
    from scipy.stats import norm, rankdata  # type: ignore[import-untyped]

    apart = np.subtract(*_paired(second, first))
    if not len(apart):
        raise InputError("There is no pair of scores to rank.")
    ranks = rankdata(np.abs(apart))
    ties = int(np.sum(apart == 0))
    above = float(ranks[apart > 0].sum())
    number = len(apart)
    mean = number * (number + 1) / 4 - ties * (ties + 1) / 4
    spread = number * (number + 1) * (2 * number + 1) - ties * (ties + 1) * (2 * ties + 1)
    _, alike = np.unique(ranks[apart != 0], return_counts=True)
    variance = (spread - float((alike**3 - alike).sum()) / 2) / 24
    z = (above - mean) / variance**0.5 if variance > 0 else 0.0
    return WilcoxonResult(z, float(2 * norm.sf(abs(z))), abs(z) / number**0.5, number, ties)


def kendall_correlation(
    metric: Sequence[float] | FloatArray,
    human: Sequence[float] | FloatArray,
    *,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 1,
) -> KendallResult | Unmeasured:
    """How well a metric orders passages as people do; both higher for the better. NaN is refused."""
    from scipy.stats import kendalltau

    ours, theirs = _paired(metric, human)
    if not _varies(ours) or not _varies(theirs):
        return Unmeasured("one side has the same value everywhere, so there is no order to compare")
    found = kendalltau(ours, theirs)
    chance = np.random.default_rng(seed)
    draws = (chance.integers(len(ours), size=len(ours)) for _ in range(samples))
    taus = [
        kendalltau(ours[drawn], theirs[drawn]).statistic
        for drawn in draws
        if _varies(ours[drawn]) and _varies(theirs[drawn])
    ]
    if not taus:
        return Unmeasured("in none of the resamples was there an order to compare")
    low, high = np.quantile(taus, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    tau, p_value = float(found.statistic), float(found.pvalue)
    return KendallResult(tau, float(low), float(high), p_value, len(ours), samples, samples - len(taus))


def _varies(values: FloatArray) -> bool:
    return bool(len(values) and np.any(values != values[0]))


def _paired(
    first: Sequence[float] | FloatArray, second: Sequence[float] | FloatArray
) -> tuple[FloatArray, FloatArray]:
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(
            f"The scores are not in pairs: {one.size:,} on one side and {other.size:,} on the other."
        )
    if np.isnan(one).any() or np.isnan(other).any():
        raise InputError("A score is missing (NaN): leave out the passages that could not be measured.")
    return one, other

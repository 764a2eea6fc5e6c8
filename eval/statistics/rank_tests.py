"""The Wilcoxon signed-rank test of two systems' paired scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ape.errors import InputError
from eval.statistics.counts import FloatArray


@dataclass(frozen=True, slots=True)
class WilcoxonResult:
    """A Wilcoxon signed-rank test, two-sided, by the normal approximation."""

    z: float
    """Positive where the second system has the higher scores."""
    p_value: float
    effect: float
    """r = |z| / √pairs: .1 is small, .3 medium, .5 large."""
    pairs: int
    ties: int
    """Pairs without a difference: ranked, then dropped from the sums (Pratt 1959)."""


def wilcoxon_pratt(first: Sequence[float] | FloatArray, second: Sequence[float] | FloatArray) -> WilcoxonResult:
    """Test whether the second system's scores of the same passages are higher or lower. Needs scipy."""
    from scipy.stats import norm, rankdata  # type: ignore[import-untyped]

    differences = np.subtract(*_paired(second, first))
    if not len(differences):
        raise InputError("There are no pairs of scores to rank.")
    ranks = rankdata(np.abs(differences))
    ties = int(np.sum(differences == 0))
    above = float(ranks[differences > 0].sum())
    number = len(differences)
    mean = number * (number + 1) / 4 - ties * (ties + 1) / 4
    spread = number * (number + 1) * (2 * number + 1) - ties * (ties + 1) * (2 * ties + 1)
    _, tie_counts = np.unique(ranks[differences != 0], return_counts=True)
    variance = (spread - float((tie_counts**3 - tie_counts).sum()) / 2) / 24
    z = (above - mean) / variance**0.5 if variance > 0 else 0.0
    return WilcoxonResult(z, float(2 * norm.sf(abs(z))), abs(z) / number**0.5, number, ties)


def _paired(first: Sequence[float] | FloatArray, second: Sequence[float] | FloatArray) -> tuple[FloatArray, FloatArray]:
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(f"The scores are not in pairs: {one.size:,} on one side and {other.size:,} on the other.")
    if np.isnan(one).any() or np.isnan(other).any():
        raise InputError("A score is NaN: leave out passages without a score.")
    return one, other

"""Correlation of a metric's segment scores with human scores, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.paired_tests import CONFIDENCE_LEVEL


@dataclass(frozen=True, slots=True)
class HumanCorrelation:
    """Correlation coefficients; positive where the metric prefers what people prefer."""

    kendall: float
    """τ-b, as human scores have many ties."""
    kendall_p: float
    pearson: float
    pearson_p: float
    segments: int
    left_out: int
    """Segments without a metric score."""
    signature: str
    by_sheet: Mapping[str, float] = field(default_factory=dict)
    """Kendall's τ-b within each sheet."""
    kendall_interval: tuple[float, float] | None = None
    """95% bootstrap interval; None without resamples, or if no resample has a correlation."""
    pearson_interval: tuple[float, float] | None = None


def correlate_scores(
    metric: FloatArray,
    human: FloatArray,
    *,
    sheets: Sequence[str],
    units: Sequence[str],
    signature: str,
    samples: int,
    seed: int,
) -> HumanCorrelation | Unmeasured:
    """Correlate paired scores, leaving out segments whose metric score is NaN.

    A resample draws units, documents or sentences, with all their translations: what is hard for one system is hard for
    others.
    """
    from scipy.stats import kendalltau, pearsonr  # type: ignore[import-untyped]

    known = ~np.isnan(metric)
    ours, theirs = metric[known], human[known]
    if not _vary(ours, theirs):
        return Unmeasured("one side has the same value everywhere, so there is nothing to correlate", signature)
    known_sheets = np.asarray(sheets)[known]
    inside = {str(sheet): known_sheets == sheet for sheet in dict.fromkeys(known_sheets.tolist())}
    tau, r = kendalltau(ours, theirs), pearsonr(ours, theirs)
    taus, rs = _resampled(ours, theirs, np.asarray(units)[known], samples, seed)
    return HumanCorrelation(
        kendall=float(tau.statistic),
        kendall_p=float(tau.pvalue),
        pearson=float(r.statistic),
        pearson_p=float(r.pvalue),
        segments=len(ours),
        left_out=int((~known).sum()),
        signature=signature,
        by_sheet={
            sheet: float(kendalltau(ours[here], theirs[here]).statistic)
            for sheet, here in inside.items()
            if _vary(ours[here], theirs[here])
        },
        kendall_interval=_interval(taus),
        pearson_interval=_interval(rs),
    )


def _resampled(
    ours: FloatArray, theirs: FloatArray, units: np.ndarray[Any, Any], samples: int, seed: int
) -> tuple[list[float], list[float]]:
    """Kendall's τ-b and Pearson's r of each resample, without those in which a side is constant."""
    from scipy.stats import kendalltau

    _, inverse = np.unique(units, return_inverse=True)
    groups = np.split(np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))[:-1])
    random = np.random.default_rng(seed)
    taus, rs = [], []
    for _ in range(samples):
        drawn = np.concatenate([groups[index] for index in random.integers(len(groups), size=len(groups))])
        if _vary(ours[drawn], theirs[drawn]):
            taus.append(float(kendalltau(ours[drawn], theirs[drawn]).statistic))
            rs.append(float(np.corrcoef(ours[drawn], theirs[drawn])[0, 1]))
    return taus, rs


def _interval(values: Sequence[float]) -> tuple[float, float] | None:
    if not values:
        return None
    low, high = np.quantile(values, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)


def _vary(*sides: FloatArray) -> bool:
    return all(len(side) > 1 and np.ptp(side) > 0 for side in sides)

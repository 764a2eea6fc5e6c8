"""Tests of several systems against one baseline, with p-values corrected for their number (Holm)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ape.errors import InputError
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.statistics.paired_tests import (
    DEFAULT_SAMPLES,
    MIN_RESAMPLING_UNITS,
    ConfidenceInterval,
    PairedComparison,
    Resamples,
    SignificanceMethod,
)
from eval.statistics.rank_tests import WilcoxonResult, wilcoxon_pratt
from eval.statistics.resampling import ResamplingUnit


@dataclass(frozen=True, slots=True)
class SystemSignificance:
    """The interval of a system and its tests against the baseline, which are None for the baseline itself."""

    interval: ConfidenceInterval | Unmeasured
    comparison: PairedComparison | Unmeasured | None = None
    corrected: float | None = None
    """The p-value after Holm's correction over all systems."""
    ranks: WilcoxonResult | Unmeasured | None = None
    """A second test, on the ranks of the differences in each unit."""
    ranks_corrected: float | None = None


def holm_correction(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down correction, which controls the family-wise error rate."""
    corrected = [1.0] * len(p_values)
    least = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        least = max(least, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = least
    return corrected


def compare_with_baseline(
    counted: Mapping[str, MetricCounts],
    *,
    baseline: str,
    higher_is_better: bool,
    by: ResamplingUnit,
    samples: int = DEFAULT_SAMPLES,
    seed: int = 1,
    method: SignificanceMethod = "bootstrap",
) -> dict[str, SystemSignificance]:
    """Test every system; keys are the systems in the order given."""
    if baseline not in counted:
        raise InputError(f"There is no system called {baseline!r}. There are: {', '.join(counted)}.")
    drawn = Resamples.of(counted, by=by, samples=samples, seed=seed)
    comparisons = {
        name: drawn.compare(baseline, name, higher_is_better=higher_is_better, method=method)
        for name in counted
        if name != baseline
    }
    ranks = {name: _ranks(drawn, baseline, name) for name in comparisons}
    corrected, ranks_corrected = _correct(comparisons), _correct(ranks)
    return {
        name: SystemSignificance(
            drawn.interval(name), comparisons.get(name), corrected.get(name), ranks.get(name), ranks_corrected.get(name)
        )
        for name in counted
    }


def _ranks(drawn: Resamples, baseline: str, other: str) -> WilcoxonResult | Unmeasured:
    """The Wilcoxon test over the units that have a score in both systems."""
    first, second = (drawn.fold(drawn.rows[name]) for name in (baseline, other))
    known = ~(np.isnan(first) | np.isnan(second))
    if drawn.too_few_reason:
        return Unmeasured(drawn.too_few_reason, drawn.signature)
    if known.sum() < MIN_RESAMPLING_UNITS:
        return Unmeasured(
            f"only {known.sum()} of {len(known)} have a score of their own in both systems", drawn.signature
        )
    try:
        return wilcoxon_pratt(first[known], second[known])
    except ImportError:
        return Unmeasured("the Wilcoxon test needs scipy (the extra `eval`)", drawn.signature)


def _correct(tests: Mapping[str, PairedComparison | WilcoxonResult | Unmeasured]) -> dict[str, float]:
    known = {name: one.p_value for name, one in tests.items() if not isinstance(one, Unmeasured)}
    return dict(zip(known, holm_correction(list(known.values())), strict=True))

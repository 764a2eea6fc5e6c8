"""Several systems against one baseline: the more tests, the likelier a false alarm, so their p-values are corrected."""

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
    """A system's interval, and how it stands to the baseline; the baseline itself stands to nothing."""

    interval: ConfidenceInterval | Unmeasured
    comparison: PairedComparison | Unmeasured | None = None
    corrected: float | None = None
    """Its p-value after Holm's correction over all systems."""
    ranks: WilcoxonResult | Unmeasured | None = None
    """A second opinion, which looks only at which of the two is higher in each unit, and in what order."""
    ranks_corrected: float | None = None


def holm_correction(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down correction: the chance of a single false alarm among all stays below the level."""
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
    """Every system by its name, in the order given."""
    if baseline not in counted:
        raise InputError(f"There is no system called {baseline!r} to compare with: {', '.join(counted)}.")
    drawn = Resamples.of(counted, by=by, samples=samples, seed=seed)
    against = {
        name: drawn.compare(baseline, name, higher_is_better=higher_is_better, method=method)
        for name in counted
        if name != baseline
    }
    ranks = {name: _ranks(drawn, baseline, name) for name in against}
    corrected, ranks_corrected = _corrected(against), _corrected(ranks)
    return {
        name: SystemSignificance(
            drawn.interval(name),
            against.get(name),
            corrected.get(name),
            ranks.get(name),
            ranks_corrected.get(name),
        )
        for name in counted
    }


def _ranks(drawn: Resamples, baseline: str, other: str) -> WilcoxonResult | Unmeasured:
    """The units that can be scored alone in both."""
    first, second = (drawn.fold(drawn.rows[name]) for name in (baseline, other))
    known = ~(np.isnan(first) | np.isnan(second))
    if drawn.few:
        return Unmeasured(drawn.few, drawn.signature)
    if known.sum() < MIN_RESAMPLING_UNITS:
        return Unmeasured(
            f"only {known.sum()} of {len(known)} have a score of their own in both systems", drawn.signature
        )
    return wilcoxon_pratt(first[known], second[known])


def _corrected(tests: Mapping[str, PairedComparison | WilcoxonResult | Unmeasured]) -> dict[str, float]:
    known = {name: one.p_value for name, one in tests.items() if not isinstance(one, Unmeasured)}
    return dict(zip(known, holm_correction(list(known.values())), strict=True))

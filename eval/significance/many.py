"""Several systems against one baseline: the more tests, the likelier a false alarm, so their p-values are corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ape.errors import InputError
from eval.metric import Counted, Unmeasured
from eval.significance.paired import LEAST, SAMPLES, Comparison, Interval, Method, Resamples
from eval.significance.ranks import SignedRanks, wilcoxon_pratt
from eval.significance.resampling import By


@dataclass(frozen=True, slots=True)
class Standing:
    """A system's interval, and how it stands to the baseline; the baseline itself stands to nothing."""

    interval: Interval | Unmeasured
    comparison: Comparison | Unmeasured | None = None
    corrected: float | None = None
    """Its p-value after Holm's correction over all systems."""
    ranks: SignedRanks | Unmeasured | None = None
    """A second opinion, which looks only at which of the two is higher in each unit, and in what order."""
    ranks_corrected: float | None = None


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down correction: the chance of a single false alarm among all stays below the level."""
    corrected = [1.0] * len(p_values)
    least = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda place: p_values[place])):
        least = max(least, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = least
    return corrected


def standings(
    counted: Mapping[str, Counted],
    *,
    baseline: str,
    higher_is_better: bool,
    by: By,
    samples: int = SAMPLES,
    seed: int = 1,
    method: Method = "bootstrap",
) -> dict[str, Standing]:
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
        name: Standing(
            drawn.interval(name),
            against.get(name),
            corrected.get(name),
            ranks.get(name),
            ranks_corrected.get(name),
        )
        for name in counted
    }


def _ranks(drawn: Resamples, baseline: str, other: str) -> SignedRanks | Unmeasured:
    """The units that can be scored alone in both."""
    first, second = (drawn.fold(drawn.rows[name]) for name in (baseline, other))
    known = ~(np.isnan(first) | np.isnan(second))
    if drawn.few:
        return Unmeasured(drawn.few, drawn.signature)
    if known.sum() < LEAST:
        return Unmeasured(
            f"only {known.sum()} of {len(known)} have a score of their own in both systems", drawn.signature
        )
    return wilcoxon_pratt(first[known], second[known])


def _corrected(tests: Mapping[str, Comparison | SignedRanks | Unmeasured]) -> dict[str, float]:
    known = {name: one.p_value for name, one in tests.items() if not isinstance(one, Unmeasured)}
    return dict(zip(known, holm(list(known.values())), strict=True))

"""Several systems against one baseline: the more tests, the likelier a false alarm, so their p-values are corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ape.errors import InputError
from eval.metric import Counted, Unmeasured
from eval.significance.paired import SAMPLES, Comparison, Interval, Method, Resamples
from eval.significance.resampling import By


@dataclass(frozen=True, slots=True)
class Standing:
    """A system's interval, and how it stands to the baseline; the baseline itself stands to nothing."""

    interval: Interval | Unmeasured
    comparison: Comparison | Unmeasured | None = None
    corrected: float | None = None
    """Its p-value after Holm's correction over all systems."""


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
    tested = {name: one.p_value for name, one in against.items() if isinstance(one, Comparison)}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {name: Standing(drawn.interval(name), against.get(name), corrected.get(name)) for name in counted}

"""Significance groups of systems, like the clusters of WMT's tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from eval.metrics.scoring import SIGNIFICANCE_TESTS, EvaluationResults
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.statistics.multiple_comparisons import holm_correction
from eval.statistics.paired_tests import Resamples

SIGNIFICANCE_LEVEL = 0.05


def significance_groups(results: EvaluationResults, metric: str) -> dict[str, int]:
    """The group of each system by a metric, 1 for the best; empty where nothing can be tested.

    All pairs of systems are tested, with Holm's correction over the pairs.
    """
    how = results.resampling
    counted = {name: one for name, one in results.counted[metric].items() if isinstance(one, MetricCounts)}
    scores = {name: one.score() for name, one in counted.items()}
    values = {name: one.value for name, one in scores.items() if not isinstance(one, Unmeasured)}
    higher = next(one.higher_is_better for one in results.metrics if one.name == metric)
    order = sorted(values, key=lambda name: -values[name] if higher else values[name])
    if len(order) < 2:
        return {}
    drawn = Resamples.of({name: counted[name] for name in order}, by=how.by, samples=how.samples, seed=how.seed)
    p_values = {}
    for better, worse in combinations(order, 2):
        found = drawn.compare(worse, better, higher_is_better=higher, method=how.test)
        if isinstance(found, Unmeasured):
            return {}
        p_values[better, worse] = found.p_value
    corrected = dict(zip(p_values, holm_correction(list(p_values.values())), strict=True))
    return group_systems(order, corrected)


def group_systems(order: list[str], p_values: Mapping[tuple[str, str], float]) -> dict[str, int]:
    """Cut the order wherever every system above is significantly better than every one below."""
    groups: dict[str, int] = {}
    number = 1
    for place, system in enumerate(order):
        above, below = order[:place], order[place:]
        if above and all(p_values[one, other] < SIGNIFICANCE_LEVEL for one in above for other in below):
            number += 1
        groups[system] = number
    return groups


def describe_groups(results: EvaluationResults) -> str:
    """How the groups were tested, in words."""
    how = results.resampling
    return (
        f"{SIGNIFICANCE_TESTS[how.test]} of all pairs of systems over {how.by}s, {how.samples:,} samples, seed "
        f"{how.seed}, p < .05 with Holm's correction over the pairs of each metric"
    )

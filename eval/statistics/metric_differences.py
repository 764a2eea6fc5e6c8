"""PERM-BOTH tests between all metrics of the same ratings at once (Deutsch et al. 2021).

A permutation swaps the standardised scores of two metrics for the same random items. As the swaps do not depend on the
metrics, one product of all swaps with three columns of each metric gives the correlations of every pair: this is what a
loop over pairs and permutations computes, with the same random numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eval.statistics.counts import FloatArray
from eval.statistics.rating_agreement import metric_difference_p_value, standardise, swap_blocks


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Two metrics, the one with the higher Pearson correlation with people first."""

    better: str
    worse: str
    difference: float
    p_value: float
    """One-sided: that the first is not better."""


def compare_metrics(
    scores: Mapping[str, FloatArray], human: FloatArray, *, samples: int, seed: int
) -> list[MetricDifference]:
    """All pairs, in the order of the metrics; pairs that miss other items than the rest are tested by themselves."""
    masks = {name: (~(np.isnan(values) | np.isnan(human))).tobytes() for name, values in scores.items()}
    common = max(masks.values(), key=list(masks.values()).count) if masks else b""
    together = [name for name, mask in masks.items() if mask == common]
    found = _together({name: scores[name] for name in together}, human, samples=samples, seed=seed)
    rows = []
    for first, second in combinations(scores, 2):
        if (first, second) in found:
            rows.append(found[first, second])
            continue
        difference, p_value = metric_difference_p_value(
            scores[first], scores[second], human, samples=samples, seed=seed
        )
        if difference < 0:
            first, second = second, first
            difference, p_value = metric_difference_p_value(
                scores[first], scores[second], human, samples=samples, seed=seed
            )
        rows.append(MetricDifference(first, second, difference, p_value))
    return rows


def _together(
    scores: Mapping[str, FloatArray], human: FloatArray, *, samples: int, seed: int
) -> dict[tuple[str, str], MetricDifference]:
    """The pairs of metrics that score the same items."""
    if len(scores) < 2:
        return {}
    known = ~np.isnan(human) & ~np.isnan(next(iter(scores.values())))
    people = standardise(human[known])
    values = np.stack([standardise(one[known]) for one in scores.values()], axis=1)
    number, size = values.shape
    totals = (values.T @ people, values.sum(axis=0), (values**2).sum(axis=0))
    columns = np.concatenate([values * people[:, None], values, values**2], axis=1)
    pairs = []
    for one, other in combinations(range(size), 2):
        difference = float(totals[0][one] - totals[0][other]) / number
        pairs.append((one, other, difference) if difference >= 0 else (other, one, -difference))
    better, worse, observed = (np.array(column) for column in zip(*pairs, strict=True))
    exceeding = np.zeros(len(pairs), dtype=np.int64)
    for swap in swap_blocks(number, samples=samples, seed=seed):
        swapped = (swap.astype(np.float64) @ columns).reshape(len(swap), 3, size)
        kept = np.stack(totals)[None] - swapped
        sides = [kept[:, :, a] + swapped[:, :, b] for a, b in ((better, worse), (worse, better))]
        ours, theirs = (_correlation(side, number) for side in sides)
        exceeding += (ours - theirs >= observed - 1e-12).sum(axis=0)
    names = list(scores)
    return {
        (names[min(a, b)], names[max(a, b)]): MetricDifference(
            names[a], names[b], float(difference), (int(count) + 1) / (samples + 1)
        )
        for (a, b, difference), count in zip(pairs, exceeding, strict=True)
    }


def _correlation(sums: FloatArray, number: int) -> FloatArray:
    """Correlations with people from sums of products, values and squares: (permutations, 3, pairs)."""
    products, values, squares = sums[:, 0], sums[:, 1], sums[:, 2]
    spread = np.sqrt(np.maximum(squares / number - (values / number) ** 2, 1e-300))
    found: FloatArray = products / number / spread
    return found

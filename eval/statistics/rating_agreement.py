"""Agreement of metric scores with human ratings at segment, document and system level, as the WMT metrics task asks.

Scores are matrices of systems by items, NaN where there is none. Pairwise accuracy compares the systems within an item
and counts ties: a metric is right to call two texts equal where people do. The threshold below which it does so is
calibrated on the same data (Deutsch et al. 2023). Soft pairwise accuracy compares the p-values of both sides for each
pair of systems instead of their signs (Thompson et al. 2024).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eval.statistics.counts import FloatArray, ratio

RatingLevel: TypeAlias = Literal["segment", "document", "system"]
RATING_LEVELS: tuple[RatingLevel, ...] = ("segment", "document", "system")
# Cells of a block of permutations held in memory.
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """Share of pairs that a metric orders, or ties, as people do."""

    value: float
    threshold: float
    """Differences up to it are ties of the metric."""
    pairs: int
    ties: int
    """Pairs that people tie."""


def mask_unrated(metric: FloatArray, human: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both matrices with NaN where either has no score."""
    known = ~(np.isnan(metric) | np.isnan(human))
    return np.where(known, metric, np.nan), np.where(known, human, np.nan)


def average_items(scores: FloatArray, groups: NDArray[Any]) -> FloatArray:
    """Means over the items of each group, a column for each group in sorted order; NaN without a score."""
    _, index = np.unique(groups, return_inverse=True)
    members = np.eye(int(index.max()) + 1)[index]
    known = ~np.isnan(scores)
    means: FloatArray = ratio(np.where(known, scores, 0.0) @ members, known.astype(float) @ members)
    return means


def item_differences(scores: FloatArray) -> FloatArray:
    """Differences of all pairs of systems within each item, flattened; NaN where either has no score."""
    first, second = np.triu_indices(len(scores), 1)
    differences: FloatArray = (scores[first] - scores[second]).ravel()
    return differences


def pairwise_accuracy(metric: FloatArray, human: FloatArray, *, calibrate: bool = True) -> PairwiseAccuracy | None:
    """Accuracy over pairs of systems within items; None without a pair. Without calibration only equal scores tie."""
    ours, theirs = item_differences(metric), item_differences(human)
    known = ~(np.isnan(ours) | np.isnan(theirs))
    ours, theirs = ours[known], theirs[known]
    if not len(ours):
        return None
    size, tied = np.abs(ours), theirs == 0
    right = (np.sign(ours) == np.sign(theirs)) & (ours != 0) & ~tied
    if not calibrate:
        correct = int((right | (tied & (size == 0))).sum())
        return PairwiseAccuracy(correct / len(ours), 0.0, len(ours), int(tied.sum()))
    order = np.argsort(size, kind="stable")
    # After the k smallest differences became ties: their human ties are right, and the orders above are.
    gained = np.cumsum(tied[order]) + right.sum() - np.cumsum(right[order])
    ends = np.flatnonzero(np.append(np.diff(size[order]) > 0, True))
    candidates = np.append(right.sum(), gained[ends])
    best = int(np.argmax(candidates))
    threshold = -1.0 if best == 0 else float(size[order][ends[best - 1]])
    return PairwiseAccuracy(float(candidates[best]) / len(ours), max(threshold, 0.0), len(ours), int(tied.sum()))


def soft_pairwise_accuracy(metric: FloatArray, human: FloatArray, *, samples: int, seed: int) -> float | None:
    """One minus the mean difference of the one-sided p-values of metric and people, over pairs of systems."""
    number = len(human)
    if number < 2:
        return None
    first, second = np.triu_indices(number, 1)
    ours, theirs = (_win_p_values(scores, first, second, samples=samples, seed=seed) for scores in (metric, human))
    known = ~(np.isnan(ours) | np.isnan(theirs))
    return float(1 - np.abs(ours - theirs)[known].mean()) if known.any() else None


def _win_p_values(
    scores: FloatArray, first: NDArray[np.intp], second: NDArray[np.intp], *, samples: int, seed: int
) -> FloatArray:
    """Probability that random swaps of the two outputs of each item give the first system a lead as large."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(samples, scores.shape[1]))
    differences = scores[first] - scores[second]
    known = ~np.isnan(differences)
    filled = np.where(known, differences, 0.0)
    lead = filled.sum(axis=1)
    swapped = signs @ filled.T
    tolerance = 1e-9 * (1 + np.abs(lead))
    p_values: FloatArray = (swapped >= lead - tolerance).mean(axis=0)
    return np.where(known.any(axis=1), p_values, np.nan)


def metric_difference_p_value(
    one: FloatArray, other: FloatArray, human: FloatArray, *, samples: int, seed: int
) -> tuple[float, float]:
    """Difference of two metrics' Pearson correlations with people, and its one-sided PERM-BOTH p-value.

    Scores of both metrics are standardised and swapped at random for each system and item (Deutsch et al. 2021). The
    p-value is that the first metric is not better.
    """
    known = ~(np.isnan(one) | np.isnan(other) | np.isnan(human))
    ours, theirs, people = (standardise(scores[known]) for scores in (one, other, human))
    observed = float(ours @ people - theirs @ people) / len(people)
    exceeding = sum(
        int((_swapped_difference(ours, theirs, people, swap) >= observed - 1e-12).sum())
        for swap in swap_blocks(len(people), samples=samples, seed=seed)
    )
    return observed, (exceeding + 1) / (samples + 1)


def swap_blocks(number: int, *, samples: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """The items that each permutation swaps, some permutations at a time: (permutations, items)."""
    rng = np.random.default_rng(seed)
    done = 0
    while done < samples:
        block = min(samples - done, max(1, _CELLS // number))
        yield rng.random((block, number), dtype=np.float32) < 0.5
        done += block


def _swapped_difference(
    ours: FloatArray, theirs: FloatArray, people: FloatArray, swap: NDArray[np.bool_]
) -> FloatArray:
    """Difference of correlations after each set of swaps; the sums follow from those of what is swapped."""
    weights = swap.astype(np.float64)
    change = theirs - ours
    number = len(people)
    covariance = weights @ (change * people)
    sums = weights @ change
    squares = weights @ (theirs**2 - ours**2)
    correlations = []
    for sign, scores in ((1.0, ours), (-1.0, theirs)):
        mean = sign * sums / number
        spread = np.sqrt(np.maximum((scores @ scores + sign * squares) / number - mean**2, 1e-300))
        correlations.append((scores @ people + sign * covariance) / number / spread)
    return np.asarray(correlations[0] - correlations[1])


def standardise(scores: FloatArray) -> FloatArray:
    """Scores with mean 0 and deviation 1."""
    spread = scores.std()
    return np.asarray((scores - scores.mean()) / (spread if spread else 1.0))

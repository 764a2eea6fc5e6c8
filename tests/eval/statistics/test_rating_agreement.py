"""Agreement with ratings: pairwise accuracy, soft accuracy, and tests between metrics, against plain loops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.statistics.rating_agreement import (
    average_items,
    metric_difference_p_value,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)

scores = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5)


def loop_accuracy(metric: np.ndarray, human: np.ndarray, threshold: float) -> float:
    right = [
        (human[a, i] == human[b, i])
        if abs(metric[a, i] - metric[b, i]) <= threshold
        else np.sign(metric[a, i] - metric[b, i]) == np.sign(human[a, i] - human[b, i])
        for i in range(metric.shape[1])
        for a, b in combinations(range(len(metric)), 2)
    ]
    return float(np.mean(right))


@given(scores, st.integers(0, 1000))
def test_calibrated_accuracy_is_the_best_of_all_thresholds(rows: list[list[int]], seed: int) -> None:
    human = np.array(rows, float).T
    metric = np.random.default_rng(seed).integers(0, 6, human.shape) / 2
    found = pairwise_accuracy(metric, human)
    assert found is not None
    thresholds = {abs(a - b) for column in metric.T for a, b in combinations(column, 2)} | {-1.0}
    assert found.value == pytest.approx(max(loop_accuracy(metric, human, one) for one in thresholds))
    assert pairwise_accuracy(metric, human, calibrate=False).value == pytest.approx(loop_accuracy(metric, human, 0.0))  # type: ignore[union-attr]


def test_a_metric_that_equals_people_is_always_right_and_missing_scores_are_left_out() -> None:
    human = np.array([[1.0, 2.0, np.nan], [2.0, 2.0, 1.0]])
    found = pairwise_accuracy(human, human)
    assert found is not None
    assert (found.value, found.pairs, found.ties) == (1.0, 2, 1)
    assert pairwise_accuracy(human[:1], human[:1]) is None


def test_documents_and_systems_are_means_of_rated_items() -> None:
    means = average_items(np.array([[1.0, 3.0, np.nan, 8.0]]), np.array(["a", "a", "b", "b"]))
    assert means.tolist() == [[2.0, 8.0]]


def test_soft_accuracy_is_one_for_the_same_scores_and_low_for_the_opposite() -> None:
    human = np.random.default_rng(1).normal([[0.0], [1.0], [2.0]], 1.0, (3, 60))
    assert soft_pairwise_accuracy(human, human, samples=200, seed=1) == 1
    opposite = soft_pairwise_accuracy(-human, human, samples=200, seed=1)
    assert opposite is not None
    assert opposite < 0.1


def test_the_permutation_test_equals_a_loop_with_the_same_swaps() -> None:
    rng = np.random.default_rng(7)
    human = rng.normal(size=(4, 30))
    good, poor = human + rng.normal(size=human.shape), human + 3 * rng.normal(size=human.shape)
    difference, p_value = metric_difference_p_value(good, poor, human, samples=300, seed=3)
    standard = [(one - one.mean()) / one.std() for one in (good.ravel(), poor.ravel(), human.ravel())]
    swap = np.random.default_rng(3).random((300, 120), dtype=np.float32) < 0.5
    loop = [
        np.corrcoef(np.where(row, standard[1], standard[0]), standard[2])[0, 1]
        - np.corrcoef(np.where(row, standard[0], standard[1]), standard[2])[0, 1]
        for row in swap
    ]
    assert difference == pytest.approx(
        np.corrcoef(standard[0], standard[2])[0, 1] - np.corrcoef(standard[1], standard[2])[0, 1]
    )
    assert p_value == pytest.approx((sum(one >= difference - 1e-12 for one in loop) + 1) / 301)
    assert metric_difference_p_value(good, good, human, samples=100, seed=1)[1] == 1

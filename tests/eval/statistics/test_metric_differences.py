"""All PERM-BOTH tests at once equal the single ones."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from eval.statistics.metric_differences import compare_metrics
from eval.statistics.rating_agreement import metric_difference_p_value


def scores() -> tuple[
    dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]], np.ndarray[tuple[int, ...], np.dtype[np.float64]]
]:
    """Four metrics of different noise, one with missing items, and the ratings."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(3, 40))
    found = {f"noise {noise}": human + noise * rng.normal(size=human.shape) for noise in (0.5, 1.0, 3.0, 1.2)}
    found["noise 1.2"][0, :4] = np.nan
    return found, human


def test_every_pair_has_the_difference_and_p_value_of_its_own_test() -> None:
    metrics, human = scores()
    found = compare_metrics(metrics, human, samples=300, seed=3)
    assert len(found) == len(list(combinations(metrics, 2)))
    for one in found:
        expected = metric_difference_p_value(metrics[one.better], metrics[one.worse], human, samples=300, seed=3)
        assert (one.difference, one.p_value) == pytest.approx(expected)
        assert one.difference >= 0


def test_a_clear_difference_is_found_and_equal_metrics_do_not_differ() -> None:
    metrics, human = scores()
    clear, *_ = compare_metrics(
        {"poor": metrics["noise 3.0"], "good": metrics["noise 0.5"]}, human, samples=200, seed=1
    )
    assert (clear.better, clear.worse) == ("good", "poor")
    assert clear.p_value < 0.05
    (same,) = compare_metrics({"a": human, "b": human}, human, samples=200, seed=1)
    assert (same.difference, same.p_value) == (0, 1)


def test_one_metric_or_none_has_no_test() -> None:
    metrics, human = scores()
    assert compare_metrics({}, human, samples=10, seed=1) == []
    assert compare_metrics({"one": metrics["noise 1.0"]}, human, samples=10, seed=1) == []

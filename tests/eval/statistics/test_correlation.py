"""Correlations with human scores, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from eval.statistics.correlation import HumanCorrelation, correlate_scores
from eval.statistics.counts import FloatArray, Unmeasured


def correlate(metric: FloatArray, human: FloatArray, samples: int = 200) -> HumanCorrelation | Unmeasured:
    sentences = [str(index) for index in range(len(metric))]
    return correlate_scores(
        metric, human, sheets=["a"] * len(metric), units=sentences, signature="m", samples=samples, seed=1
    )


def test_kendall_by_hand() -> None:
    # Of six pairs of passages five are in the same order: (5 − 1) / 6.
    found = correlate(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 40, 30]))
    assert isinstance(found, HumanCorrelation)
    assert found.kendall == pytest.approx(4 / 6)
    assert found.kendall_interval is not None
    assert -1 <= found.kendall_interval[0] <= found.kendall_interval[1] <= 1


def test_the_interval_of_kendall_narrows_with_more_passages() -> None:
    random = np.random.default_rng(1)
    human = random.random(400)
    metric = human + random.normal(0, 0.5, 400)
    widths = []
    for number in (40, 400):
        found = correlate(metric[:number], human[:number])
        assert isinstance(found, HumanCorrelation)
        assert found.kendall_interval is not None
        low, high = found.kendall_interval
        assert low < found.kendall < high
        widths.append(high - low)
    assert widths[1] < widths[0]


def test_a_constant_has_no_correlation() -> None:
    assert isinstance(correlate(np.ones(3), np.array([1.0, 2, 3])), Unmeasured)

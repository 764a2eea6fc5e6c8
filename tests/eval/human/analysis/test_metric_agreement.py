"""Agreement of metrics with votes."""

from __future__ import annotations

import pytest

from eval.human.analysis.metric_agreement import MetricAgreement, metric_agreement
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from tests.eval.human.analysis.vote_factory import votes


def _against(line: str, scores: dict[tuple[str, str], float], *, higher: bool = True) -> MetricAgreement:
    found = metric_agreement(votes(line), scores, metric="m", higher_is_better=higher, samples=100)
    assert isinstance(found, MetricAgreement)
    return found


def test_accuracy_by_hand() -> None:
    # Right, wrong, equal scores, a tied vote, and a missing score.
    scores = {("i0", "x"): 2.0, ("i0", "y"): 1.0, ("i1", "x"): 1.0, ("i1", "y"): 2.0, ("i2", "x"): 1.0}
    scores |= {("i2", "y"): 1.0, ("i3", "x"): 5.0, ("i3", "y"): 1.0, ("i4", "x"): 1.0}
    found = _against("xxx=x", scores)
    assert isinstance(found.accuracy, ConfidenceInterval)
    assert found.accuracy.value == pytest.approx(1.5 / 3)
    assert (found.votes, found.metric_ties, found.left_out) == (3, 1, 1)
    lower = _against("xxx=x", scores, higher=False)
    assert isinstance(lower.accuracy, ConfidenceInterval)
    assert lower.accuracy.value == pytest.approx(1.5 / 3)


def test_a_metric_that_follows_the_votes_is_accurate_only_in_its_direction() -> None:
    line = "xyxyxxyy"
    scores = {(f"i{at}", name): float(name == won) for at, won in enumerate(line) for name in "xy"}
    right, wrong = _against(line, scores), _against(line, scores, higher=False)
    assert isinstance(right.accuracy, ConfidenceInterval)
    assert isinstance(wrong.accuracy, ConfidenceInterval)
    assert isinstance(right.tau, ConfidenceInterval)
    assert (right.accuracy.value, wrong.accuracy.value) == (1, 0)
    assert right.tau.value == pytest.approx(1)


def test_missing_scores_and_missing_votes_are_unmeasured() -> None:
    assert isinstance(metric_agreement(votes("xy"), {}, metric="m"), Unmeasured)
    assert isinstance(metric_agreement([], {("i0", "x"): 1.0}, metric="m"), Unmeasured)
    same = _against("xyx", {(f"i{at}", name): 1.0 for at in range(3) for name in "xy"})
    assert isinstance(same.tau, Unmeasured)

from __future__ import annotations

import pytest

from eval.human.analysis.span_agreement import span_agreement
from eval.human.analysis.span_analysis import analyse_spans, format_spans
from eval.human.analysis.span_scores import span_differences, system_span_scores
from eval.human.span import PUNCTUATION, ErrorSpan
from eval.human.span_rating import SpanRating
from eval.human.vote import SHUFFLED_SYSTEM
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval


def rate(
    rater: str, passage: str, system: str, score: float, *spans: ErrorSpan, kind: str = "pair", item: str = ""
) -> SpanRating:
    return SpanRating(item or passage, rater, system, score, spans, 10, passage, passage, kind)  # type: ignore[arg-type]


def value_of(found: ConfidenceInterval | Unmeasured) -> float:
    assert isinstance(found, ConfidenceInterval)
    return found.value


def test_points_are_weighted_as_at_wmt() -> None:
    spans = (ErrorSpan(0, 1, "major"), ErrorSpan(2, 3, "minor"), ErrorSpan(4, 5, "minor", PUNCTUATION))
    assert rate("a", "p", "s", 50, *spans).points == pytest.approx(6.1)  # by hand: 5 + 1 + 0.1
    assert rate("a", "p", "s", 50, ErrorSpan(0, 1, "critical"), ErrorSpan(1, 2, "neutral")).points == 25


def test_means_and_points_of_systems_are_by_hand() -> None:
    ratings = [rate("a", "p1", "x", 90), rate("a", "p2", "x", 70, ErrorSpan(0, 4, "major")), rate("a", "p1", "y", 40)]
    best, other = system_span_scores([*ratings, rate("a", "p2", "y", 60)], samples=200, seed=1)
    assert (best.system, value_of(best.score), value_of(best.points)) == ("x", 80, 2.5)
    assert (other.system, value_of(other.score), best.severities) == ("y", 50, {"major": 1})


def test_a_difference_is_of_the_same_passages_by_the_same_raters() -> None:
    ratings = [rate("a", f"p{n}", name, score) for n in range(12) for name, score in (("x", 60 + n), ("y", 50 + n))]
    (found,) = span_differences([*ratings, rate("b", "p99", "x", 0)], samples=999, seed=1)
    assert (found.system, found.pairs, value_of(found.difference)) == ("x", 12, 10)
    assert found.p_value is not None
    assert found.p_value < 0.01
    even = [rate("a", f"p{n}", name, 50 + 10 * (n % 2 == (name == "x"))) for n in range(12) for name in "xy"]
    (found,) = span_differences(even, samples=999, seed=1)
    assert found.p_value is not None
    assert found.p_value > 0.5


def test_f1_of_characters_is_by_hand() -> None:
    # Marks of 4 and 6 characters that share 4: F1 = 2·4 / (4 + 6); with half credit for severity 2·2 / 10.
    ratings = [rate("a", "p", "x", 50, ErrorSpan(0, 4, "minor")), rate("b", "p", "x", 60, ErrorSpan(0, 6, "major"))]
    ratings += [rate("a", "q", "x", 50), rate("b", "q", "x", 55)]
    found = span_agreement(ratings, samples=200, seed=1)
    assert not isinstance(found, Unmeasured)
    assert value_of(found.f1) == pytest.approx(0.8)
    assert value_of(found.f1_severity) == pytest.approx(0.4)


def test_alpha_is_one_for_equal_marks_and_about_zero_for_unrelated_ones() -> None:
    same = [rate(rater, f"p{n}", "x", 50, ErrorSpan(n, n + 3, "minor")) for n in range(5) for rater in "ab"]
    found = span_agreement(same, samples=100, seed=1)
    assert not isinstance(found, Unmeasured)
    assert value_of(found.alpha) == pytest.approx(1.0)
    # Each marks 5 of the 11 places; by chance they share 2.3, here 2.
    apart = [
        rate(rater, f"p{n}", "x", 50, *(ErrorSpan(at, at + 1, "minor") for at in places))
        for n in range(5)
        for rater, places in (("a", (0, 1, 2, 3, 4)), ("b", (0, 1, 5, 6, 7)))
    ]
    found = span_agreement(apart, samples=100, seed=1)
    assert not isinstance(found, Unmeasured)
    assert abs(value_of(found.alpha)) < 0.25


def test_one_rater_alone_has_no_agreement() -> None:
    assert isinstance(span_agreement([rate("a", "p", "x", 50)], samples=100, seed=1), Unmeasured)


def test_an_attention_item_is_caught_by_a_lower_score_and_more_errors() -> None:
    def check(score: float, *spans: ErrorSpan) -> int:
        ratings = [
            rate("a", "p", "x", 50),
            rate("a", "q", "x", 90, kind="spam", item="i"),
            rate("a", "q", SHUFFLED_SYSTEM, score, *spans, kind="spam", item="i"),
        ]
        found = analyse_spans(ratings, samples=100, seed=1)
        assert found is not None
        assert [one.system for one in found.systems] == ["x"]
        assert "a: 1 texts" in format_spans(found)
        return found.raters[0].caught

    assert check(10, ErrorSpan(0, 10, "major")) == 1
    assert check(10) == 0
    assert check(95, ErrorSpan(0, 10, "major")) == 0

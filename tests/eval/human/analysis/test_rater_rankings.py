"""Rankings by rater, and Kruskal and Wallis's test against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kruskal  # type: ignore[import-untyped]

from eval.human.analysis.rater_rankings import RaterRankings, rater_rankings
from eval.statistics.counts import Unmeasured
from eval.statistics.kruskal_wallis import KruskalWallis, kruskal_wallis
from eval.statistics.paired_tests import ConfidenceInterval
from tests.eval.human.analysis.vote_factory import votes

_SCORES = st.lists(st.integers(0, 9).map(float), min_size=3, max_size=12)


@given(_SCORES, _SCORES, _SCORES)
@settings(max_examples=30, deadline=None)
def test_the_test_is_scipys(first: list[float], second: list[float], third: list[float]) -> None:
    if len({*first, *second, *third}) == 1:
        return
    found = kruskal_wallis({"a": first, "b": second, "c": third}, samples=20)
    assert isinstance(found, KruskalWallis)
    known = kruskal(first, second, third)
    assert found.statistic == pytest.approx(known.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(known.pvalue)
    assert found.freedom == 2


def test_groups_apart_have_the_largest_effect_there_is() -> None:
    # Nine values in three blocks, by hand: H = 7.2, of at most 8.
    found = kruskal_wallis({"a": [1, 2, 3], "b": [4, 5, 6], "c": [7, 8, 9]}, samples=100)
    assert isinstance(found, KruskalWallis)
    assert found.statistic == pytest.approx(7.2)
    assert isinstance(found.effect, ConfidenceInterval)
    assert found.effect.value == pytest.approx(0.9)
    assert found.mean_ranks == {"a": 2, "b": 5, "c": 8}


@pytest.mark.parametrize(
    "groups", [{}, {"a": [1.0, 2.0]}, {"a": [1.0], "b": [2.0, 3.0]}, {"a": [1.0] * 2, "b": [1.0] * 2}]
)
def test_without_an_order_there_is_a_reason(groups: dict[str, list[float]]) -> None:
    assert isinstance(kruskal_wallis(groups), Unmeasured)


def test_equals_share_the_mean_of_their_ranks() -> None:
    own = [
        *votes("xx", rater="a"),
        *votes("xy", first="y", second="z", rater="a", start=2),
        *votes("=x", first="x", second="z", rater="a", start=4),
    ]
    # x won 3.5 of 4, y 1 of 4, z 1.5 of 4.
    found = rater_rankings(own)
    assert isinstance(found, RaterRankings)
    assert found.by_rater == {"a": {"x": 1, "z": 2, "y": 3}}
    assert isinstance(found.test, Unmeasured)
    even = rater_rankings(votes("xy"))
    assert isinstance(even, RaterRankings)
    assert even.by_rater["r"] == {"x": 1.5, "y": 1.5}


def test_a_rater_who_has_not_seen_all_is_left_out_by_name() -> None:
    own = [
        *votes("xy", rater="a"),
        *votes("xx", second="z", rater="a", start=2),
        *votes("x", rater="b", start=9),
    ]
    found = rater_rankings(own)
    assert isinstance(found, RaterRankings)
    assert found.left_out == ("b",)
    assert isinstance(rater_rankings([]), Unmeasured)


def test_raters_who_agree_make_a_ranking_that_is_no_accident() -> None:
    own = [vote for rater in "abcdefgh" for vote in votes("xxxxxy", rater=rater)]
    found = rater_rankings(own, samples=100)
    assert isinstance(found, RaterRankings)
    assert isinstance(found.test, KruskalWallis)
    assert found.test.p_value < 0.001
    assert [one.system for one in found.systems] == ["x", "y"]
    assert np.mean([ranks["x"] for ranks in found.by_rater.values()]) == 1

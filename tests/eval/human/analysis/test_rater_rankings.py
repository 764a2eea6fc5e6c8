"""Rankings of systems by rater."""

from __future__ import annotations

import numpy as np

from eval.human.analysis.rater_rankings import RaterRankings, rater_rankings
from eval.statistics.counts import Unmeasured
from eval.statistics.kruskal_wallis import KruskalWallis
from tests.eval.human.analysis.vote_factory import votes


def test_tied_systems_share_their_mean_rank() -> None:
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


def test_raters_who_have_not_seen_all_systems_are_left_out() -> None:
    own = [*votes("xy", rater="a"), *votes("xx", second="z", rater="a", start=2), *votes("x", rater="b", start=9)]
    found = rater_rankings(own)
    assert isinstance(found, RaterRankings)
    assert found.left_out == ("b",)
    assert isinstance(rater_rankings([]), Unmeasured)


def test_agreeing_raters_give_a_significant_ranking() -> None:
    own = [vote for rater in "abcdefgh" for vote in votes("xxxxxy", rater=rater)]
    found = rater_rankings(own, samples=100)
    assert isinstance(found, RaterRankings)
    assert isinstance(found.test, KruskalWallis)
    assert found.test.p_value < 0.001
    assert [one.system for one in found.systems] == ["x", "y"]
    assert np.mean([ranks["x"] for ranks in found.by_rater.values()]) == 1

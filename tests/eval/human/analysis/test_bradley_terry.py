"""Bradley-Terry strengths from votes, with intervals."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from eval.human.analysis.bradley_terry import bradley_terry
from eval.human.vote import Vote
from eval.statistics.bradley_terry import BradleyTerry
from eval.statistics.counts import Unmeasured
from tests.eval.human.analysis.vote_factory import votes


def _fitted(found: BradleyTerry | Unmeasured) -> BradleyTerry:
    assert isinstance(found, BradleyTerry)
    return found


def test_two_systems_differ_by_their_log_odds() -> None:
    found = _fitted(bradley_terry(votes("x" * 30 + "y" * 10), samples=200))
    best, other = found.strengths
    assert best.system == "x"
    assert best.value - other.value == pytest.approx(log(3))
    assert found.pairs[0].chance == pytest.approx(0.75)
    assert found.pairs[0].low < 0.75 < found.pairs[0].high
    assert (best.best, best.worst) == (1, 1)
    assert not found.regularised


def test_a_tie_is_half_a_win_for_each() -> None:
    with_ties = _fitted(bradley_terry(votes("xxyy" + "=" * 4 + "x" * 4), samples=50))
    assert with_ties.strengths[0].value == pytest.approx(log(8 / 4) / 2)
    assert with_ties.ties == "half a win each"


def test_an_unbeaten_system_is_regularised_with_a_one_sided_interval() -> None:
    found = _fitted(bradley_terry(votes("x" * 20), samples=500))
    best, other = found.strengths
    assert found.regularised
    # There is no upper bound; the lower one is Clopper-Pearson for 20 of 20: 0.025 ** (1 / 20) is .832.
    assert (best.high, other.low) == (None, None)
    end = log(0.8316 / 0.1684) / 2
    assert best.low == pytest.approx(end, abs=1e-3)
    assert other.high == pytest.approx(-end, abs=1e-3)
    assert [found.pairs[0].low, found.pairs[0].high] == pytest.approx([0.8316, 1.0], abs=1e-4)
    assert (best.best, best.worst) == (1, 1)
    # The prior adds half a win and half a loss against strength 0: 20 + .5 = 20 σ(2s) + σ(s).
    s = best.value
    assert 20 / (1 + np.exp(-2 * s)) + 1 / (1 + np.exp(-s)) == pytest.approx(20.5, abs=1e-6)


def test_one_vote_is_not_significant() -> None:
    found = _fitted(bradley_terry(votes("x"), samples=500))
    assert not found.pairs[0].significant
    assert [(one.best, one.worst) for one in found.strengths] == [(1, 2), (1, 2)]


def test_votes_on_one_item_are_one_cluster() -> None:
    own = [vote for rater in "abcd" for vote in votes("x" * 10, rater=rater)]
    assert _fitted(bradley_terry(own, samples=200)).pairs[0].low <= 0.025**0.1


def test_a_single_loss_leaves_the_interval_open() -> None:
    found = _fitted(bradley_terry(votes("x" * 29 + "y"), samples=500))
    assert not found.regularised
    # By hand: (29 / 30) ** 30 is .36, so in a third of the resamples x never loses.
    assert found.pairs[0].high == 1.0
    assert found.strengths[0].high is None
    assert found.strengths[0].low is not None


@pytest.mark.parametrize("rate", [0.9, 0.99])
def test_intervals_cover_the_rate_of_a_dominant_system(rate: float) -> None:
    chance, held, rounds = np.random.default_rng(1), 0, 60
    for seed in range(rounds):
        won = "".join("x" if one else "y" for one in chance.random(30) < rate)
        pair = _fitted(bradley_terry(votes(won), samples=200, seed=seed)).pairs[0]
        truth = rate if pair.first == "x" else 1 - rate
        held += pair.low <= truth <= pair.high
    assert held / rounds >= 0.9


def test_only_ties_are_unmeasured() -> None:
    found = bradley_terry(votes("=" * 12))
    assert found == Unmeasured("all 12 votes are ties, so the uncertainty can't be estimated")


def test_unconnected_groups_are_named() -> None:
    own = [*votes("xyxy"), *votes("xyxy", first="a", second="b", start=4)]
    found = bradley_terry(own)
    assert isinstance(found, Unmeasured)
    assert found.why.endswith("a, b; x, y")
    assert isinstance(bradley_terry([]), Unmeasured)


def test_systems_are_ranked_through_a_common_opponent() -> None:
    own = [*votes("xxxy" * 10), *votes("xxxy" * 10, first="y", second="z", start=40)]
    found = _fitted(bradley_terry(own, samples=200))
    assert [one.system for one in found.strengths] == ["x", "y", "z"]
    chance = {(one.first, one.second): one.chance for one in found.pairs}
    assert chance["x", "z"] == pytest.approx(0.9)  # odds 3 · 3


def test_the_same_seed_gives_the_same_intervals() -> None:
    own = votes("xyxxyx=xyxx")
    assert bradley_terry(own, samples=50, seed=3) == bradley_terry(own, samples=50, seed=3)


def test_a_passage_shown_in_several_pairs_is_one_cluster() -> None:
    apart = [vote for pair in ("xy", "yz", "xz") for vote in _votes_on(pair, passage=False)]
    together = [vote for pair in ("xy", "yz", "xz") for vote in _votes_on(pair, passage=True)]
    one, other = bradley_terry(apart, samples=400), bradley_terry(together, samples=400)
    assert isinstance(one, BradleyTerry)
    assert isinstance(other, BradleyTerry)
    assert [each.value for each in one.strengths] == [each.value for each in other.strengths]
    # A system that wins both or neither of its pairs on a passage has a wider interval; one that wins one of two, a
    # narrower one.
    assert _width(other, "x") > 1.15 * _width(one, "x")
    assert _width(other, "y") < 0.85 * _width(one, "y")


def _votes_on(pair: str, *, passage: bool) -> list[Vote]:
    """Twelve passages; the first system of every pair wins the same eight."""
    return [
        Vote(
            f"{pair}{place}",
            "r",
            pair[0],
            pair[1],
            "first" if place % 3 else "second",
            passage=f"p{place}" if passage else "",
        )
        for place in range(12)
    ]


def _width(found: BradleyTerry, system: str) -> float:
    (one,) = (one for one in found.strengths if one.system == system)
    assert one.low is not None
    assert one.high is not None
    return one.high - one.low

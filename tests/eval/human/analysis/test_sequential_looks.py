"""Looks that may be taken at any time."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.human.analysis.sequential_looks import sequential_look
from eval.statistics.confidence_sequence import (
    SequentialLook,
    confidence_sequence_bounds,
    log_evidence,
    sequential_look_at_wins,
)
from eval.statistics.counts import Unmeasured
from eval.statistics.proportion import wilson_bounds
from tests.eval.human.analysis.vote_factory import votes


def test_the_evidence_is_a_martingale() -> None:
    # Whatever came before, the mean of the ratio after one more vote is the ratio itself.
    for wins, number, rate in ((0, 0, 0.5), (3, 5, 0.5), (40, 50, 0.7)):
        now, won, lost = (
            float(np.exp(log_evidence(np.array(float(w)), np.array(float(n)), rate)))
            for w, n in ((wins, number), (wins + 1, number + 1), (wins, number + 1))
        )
        assert rate * won + (1 - rate) * lost == pytest.approx(now)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=40, deadline=None)
def test_the_interval_ends_where_the_evidence_reaches_twenty(counts: tuple[int, int]) -> None:
    bounds = confidence_sequence_bounds(*counts)
    wins, number = (np.array(float(count)) for count in counts)
    for end in (bounds.low, bounds.high):
        if 0 < end < 1 - 1e-9:  # nearer to 1, a rate has too few digits to be put in again
            assert float(log_evidence(wins, number, end)) == pytest.approx(log(20), abs=1e-5)
    plain = wilson_bounds(*counts)
    assert bounds.high - bounds.low > 0.9 * (plain.high - plain.low)


@pytest.mark.parametrize(
    ("wins", "number"), [(1, 200), (199, 200), (1, 5000), (4999, 5000), (0, 5000), (5000, 5000)]
)
def test_votes_that_are_nearly_all_on_one_side_have_an_interval_too(wins: int, number: int) -> None:
    bounds, mirrored = (
        confidence_sequence_bounds(wins, number),
        confidence_sequence_bounds(number - wins, number),
    )
    assert 0 <= bounds.low <= wins / number <= bounds.high <= 1
    assert (bounds.low, bounds.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_it_says_since_when_an_even_chance_is_ruled_out() -> None:
    found = sequential_look_at_wins([True] * 40)
    assert found.decided_at is not None
    assert sequential_look_at_wins([True] * (found.decided_at - 1)).decided_at is None
    assert found.p_value < 0.05
    assert sequential_look_at_wins([True, False] * 40).p_value == 1.0


def test_votes_are_taken_by_their_times_and_each_item_once() -> None:
    own = [
        replace(vote, at=f"2026-01-01T00:00:{60 - at:02}Z") for at, vote in enumerate(votes("xxxxyyyy"), 1)
    ]
    found = sequential_look(own, "x", "y")
    assert isinstance(found, SequentialLook)
    assert found == sequential_look_at_wins([False] * 4 + [True] * 4, "x", "y")
    twice = sequential_look([*votes("xxxx=", rater="a"), *votes("yyyyy", rater="b")], "x", "y")
    assert isinstance(twice, SequentialLook)
    assert (twice.wins, twice.votes) == (4, 5)
    assert isinstance(sequential_look(votes("=="), "x", "y"), Unmeasured)


def test_it_names_the_system_that_was_ahead_when_it_was_decided() -> None:
    found = sequential_look_at_wins([True] * 25 + [False] * 40, "a", "b")
    assert found.decided_at is not None
    assert found.decided_at <= 25
    assert (found.preferred, found.lead_lost) == ("a", True)  # though b has more votes now
    assert (
        sequential_look_at_wins([True] * 25, "a", "b").preferred,
        sequential_look_at_wins([True] * 25, "a", "b").lead_lost,
    ) == ("a", False)
    assert (
        sequential_look_at_wins([False] * 25, "a", "b").preferred,
        sequential_look_at_wins([False] * 25, "a", "b").lead_lost,
    ) == ("b", False)
    assert sequential_look_at_wins([True, False], "a", "b").preferred is None


def test_each_of_several_pairs_has_its_part_of_one_time_in_twenty() -> None:
    alone, among = (
        sequential_look_at_wins([True] * 40, pairs=1),
        sequential_look_at_wins([True] * 40, pairs=28),
    )
    assert among.p_value == pytest.approx(28 * alone.p_value)
    assert among.bounds == confidence_sequence_bounds(40, 40, level=1 - 0.05 / 28)
    assert alone.decided_at is not None
    assert among.decided_at is not None
    assert among.decided_at > alone.decided_at


def test_among_many_equal_systems_hardly_any_pair_is_ever_decided() -> None:
    # 8 systems make 28 pairs. Without the correction at least one pair is decided in half of the rounds.
    chance = np.random.default_rng(4)
    wrong = {1: 0, 28: 0}
    for _ in range(40):
        rounds = chance.random((28, 150)) < 0.5
        for pairs in wrong:
            wrong[pairs] += any(sequential_look_at_wins(list(won), pairs=pairs).decided_at for won in rounds)
    assert wrong[1] >= 12
    assert wrong[28] <= 4  # 5% of 40 is 2

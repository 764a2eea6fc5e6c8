"""Confidence sequences, and sequential looks at wins."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.statistics.confidence_sequence import confidence_sequence_bounds, log_evidence, sequential_look_at_wins
from eval.statistics.proportion import wilson_bounds


def test_evidence_is_a_martingale() -> None:
    # The expected ratio after one more vote equals the current ratio.
    for wins, number, rate in ((0, 0, 0.5), (3, 5, 0.5), (40, 50, 0.7)):
        now, won, lost = (
            float(np.exp(log_evidence(np.array(float(w)), np.array(float(n)), rate)))
            for w, n in ((wins, number), (wins + 1, number + 1), (wins, number + 1))
        )
        assert rate * won + (1 - rate) * lost == pytest.approx(now)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=40, deadline=None)
def test_the_bounds_are_where_evidence_reaches_twenty(counts: tuple[int, int]) -> None:
    bounds = confidence_sequence_bounds(*counts)
    wins, number = (np.array(float(count)) for count in counts)
    for end in (bounds.low, bounds.high):
        if 0 < end < 1 - 1e-9:  # nearer to 1, floating point is too coarse
            assert float(log_evidence(wins, number, end)) == pytest.approx(log(20), abs=1e-5)
    plain = wilson_bounds(*counts)
    assert bounds.high - bounds.low > 0.9 * (plain.high - plain.low)


@pytest.mark.parametrize(("wins", "number"), [(1, 200), (199, 200), (1, 5000), (4999, 5000), (0, 5000), (5000, 5000)])
def test_one_sided_counts_have_valid_mirrored_bounds(wins: int, number: int) -> None:
    bounds, mirrored = (confidence_sequence_bounds(wins, number), confidence_sequence_bounds(number - wins, number))
    assert 0 <= bounds.low <= wins / number <= bounds.high <= 1
    assert (bounds.low, bounds.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_decided_at_is_the_first_vote_that_rules_out_one_half() -> None:
    found = sequential_look_at_wins([True] * 40)
    assert found.decided_at is not None
    assert sequential_look_at_wins([True] * (found.decided_at - 1)).decided_at is None
    assert found.p_value < 0.05
    assert sequential_look_at_wins([True, False] * 40).p_value == 1.0


def test_preferred_is_the_system_ahead_at_the_decision() -> None:
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


def test_several_pairs_share_the_error_rate_by_bonferroni() -> None:
    alone, among = (sequential_look_at_wins([True] * 40, pairs=1), sequential_look_at_wins([True] * 40, pairs=28))
    assert among.p_value == pytest.approx(28 * alone.p_value)
    assert among.bounds == confidence_sequence_bounds(40, 40, level=1 - 0.05 / 28)
    assert alone.decided_at is not None
    assert among.decided_at is not None
    assert among.decided_at > alone.decided_at


def test_family_wise_error_is_controlled_over_many_equal_systems() -> None:
    # 8 systems make 28 pairs. Without the correction at least one pair is decided in half of the rounds.
    chance = np.random.default_rng(4)
    wrong = {1: 0, 28: 0}
    for _ in range(40):
        rounds = chance.random((28, 150)) < 0.5
        for pairs in wrong:
            wrong[pairs] += any(sequential_look_at_wins(list(won), pairs=pairs).decided_at for won in rounds)
    assert wrong[1] >= 12
    assert wrong[28] <= 4  # 5% of 40 is 2

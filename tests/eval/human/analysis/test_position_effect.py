"""Position bias: found where it can be, and not where one order was shown."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.human.analysis.position_effect import PositionEffect, position_effect
from eval.human.analysis.rater_checks import check_raters, flagged_raters
from eval.human.vote import Vote
from eval.statistics.counts import Unmeasured
from eval.statistics.odds_ratio import OddsRatio, odds_ratio
from eval.statistics.order_test import OrderedRun, order_p_value
from tests.eval.human.analysis.vote_factory import votes


def test_ties_and_no_votes_are_unmeasured() -> None:
    assert isinstance(position_effect(votes("===")), Unmeasured)
    assert isinstance(position_effect([]), Unmeasured)


def honest_votes(random: Random, *, first_share: float, number: int = 40) -> list[Vote]:
    """A rater who prefers x in 70% of the items, wherever it stands."""
    made = []
    for at in range(number):
        x_first, x_wins = random.random() < first_share, random.random() < 0.7
        systems = ("x", "y") if x_first else ("y", "x")
        made.append(Vote(f"i{at}", "r", *systems, "first" if x_first == x_wins else "second"))
    return made


@pytest.mark.parametrize("first_share", [1.0, 0.8, 0.5])
def test_an_honest_preference_is_not_taken_for_a_side(first_share: float) -> None:
    # Of raters with a 70% preference, a fair coin for the side flagged half where one system always stood first.
    random = Random(5)
    flagged = sum(bool(flagged_raters(honest_votes(random, first_share=first_share))) for _ in range(200))
    assert flagged <= 6  # 1% of 200 is 2


def test_one_order_of_display_is_not_measured() -> None:
    own = honest_votes(Random(1), first_share=1.0)
    found = position_effect(own)
    assert isinstance(found, Unmeasured)
    assert "one system was always shown first" in found.why
    assert "one system was always shown first" in check_raters(own)[0].untested["side"]


def test_an_unknown_order_is_not_measured_and_other_votes_are_counted() -> None:
    own = votes("xxyyxxyyxxyy")
    unknown = [replace(vote, order="unknown") for vote in own]
    assert position_effect(unknown) == Unmeasured("the order of display is unknown")
    assert check_raters(unknown)[0].untested["side"] == "the order of display is unknown"
    found = position_effect([*own, *(replace(vote, rater="s", order="unknown") for vote in own)])
    assert isinstance(found, PositionEffect)
    assert (found.trials, found.left_out) == (12, 12)


def test_a_pair_in_one_order_does_not_dilute_the_others() -> None:
    mixed = [*votes("xxyyxxyy"), *[Vote(f"z{at}", "r", "x", "z", "first") for at in range(30)]]
    found = position_effect(mixed)
    assert isinstance(found, PositionEffect)
    assert (found.trials, found.left_out, found.rate) == (8, 30, 0.5)


runs_of_a_pair = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=6)


@given(runs_of_a_pair)
def test_the_order_test_equals_enumeration(pairs: list[tuple[bool, int]]) -> None:
    def lead(orders: tuple[bool, ...]) -> int:
        return sum(value for swapped, (_, value) in zip(orders, pairs, strict=True) if not swapped)

    every = [lead(orders) for orders in permutations(swapped for swapped, _ in pairs)]
    chance = {value: every.count(value) / len(every) for value in every}
    seen = chance[lead(tuple(swapped for swapped, _ in pairs))]
    expected = sum(value for value in chance.values() if value <= seen * (1 + 1e-7))
    assert order_p_value([OrderedRun("p", *one) for one in pairs]) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from("pq"), st.booleans(), st.sampled_from([-1, 1])), min_size=4, max_size=30))
def test_with_single_votes_the_order_test_is_fishers_stratified(cells: list[tuple[str, bool, int]]) -> None:
    def count(stratum: str, swapped: bool, won: int) -> int:
        return cells.count((stratum, swapped, won))

    tables = [
        ((count(name, False, 1), count(name, False, -1)), (count(name, True, 1), count(name, True, -1)))
        for name in "pq"
    ]
    exact = odds_ratio(tables)
    expected = 1.0 if isinstance(exact, Unmeasured) else exact.p_value
    assert order_p_value([OrderedRun(*one) for one in cells]) == pytest.approx(expected)


def test_position_bias_is_found_and_not_confused_with_a_better_system() -> None:
    always = [replace(vote, choice="first") for vote in votes("xxxxxxxxxxxxxxxxxxxx")]
    biased = position_effect(always)
    assert isinstance(biased, PositionEffect)
    assert (biased.successes, biased.trials) == (20, 20)
    assert isinstance(biased.odds, OddsRatio)
    assert biased.odds.value is None  # no bound
    assert biased.odds.p_value < 1e-4
    assert biased.odds.low > 10
    better = position_effect(votes("x" * 18 + "yy"))
    assert isinstance(better, PositionEffect)
    assert better.rate == 0.5


def test_odds_within_pairs_are_not_biased_by_an_unbalanced_order() -> None:
    # x is better and nearly always shown first; in either place it wins three of four.
    own = [Vote(f"a{at}", "r", "x", "y", "second" if at % 4 == 0 else "first") for at in range(80)]
    own += [Vote(f"b{at}", "r", "y", "x", "first" if at % 4 == 0 else "second") for at in range(8)]
    found = position_effect(own)
    assert isinstance(found, PositionEffect)
    assert found.rate > 0.7
    assert isinstance(found.odds, OddsRatio)
    assert found.odds.value == pytest.approx(1)
    assert found.odds.p_value == pytest.approx(1)
    assert dict(found.shown) == {"x": 80, "y": 8}

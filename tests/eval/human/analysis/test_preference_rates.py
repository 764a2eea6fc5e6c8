"""Preference rates of pairs, overall and by group."""

from __future__ import annotations

import pytest

from ape.errors import InputError
from eval.human.analysis.preference_rates import (
    Preference,
    PreferenceGroup,
    measure_preference,
    measure_preferences,
    preferences_by_group,
)
from eval.human.vote import SHUFFLED_SYSTEM, Vote
from eval.statistics.counts import Unmeasured
from eval.statistics.proportion import binomial_p_value
from tests.eval.human.analysis.vote_factory import votes


def _measured(found: Preference | Unmeasured) -> Preference:
    assert isinstance(found, Preference)
    return found


def test_ties_are_left_out_or_half_a_win_as_the_result_says() -> None:
    own = votes("xxxxxx yy ====")
    without = _measured(measure_preference(own, "x", "y"))
    assert (without.rate, without.handling) == (6 / 8, "left out")
    assert [bounds.method for bounds in without.bounds] == ["Wilson", "Clopper-Pearson"]
    halves = _measured(measure_preference(own, "x", "y", ties="half a win each"))
    assert (halves.rate, halves.handling) == (8 / 12, "half a win each")
    assert [bounds.method for bounds in halves.bounds] == ["Bonett-Price"]
    # By hand: 6 of 8 against a coin is (28 + 8 + 1) / 256, doubled; ties are ignored.
    assert without.p_value == halves.p_value == pytest.approx(74 / 256)


def test_mirrored_rates_sum_to_one() -> None:
    own = votes("xyxxyx=x")
    ours, theirs = _measured(measure_preference(own, "x", "y")), _measured(measure_preference(own, "y", "x"))
    assert ours.rate + theirs.rate == pytest.approx(1)
    assert (ours.wins, ours.losses, ours.ties) == (theirs.losses, theirs.wins, theirs.ties) == (5, 2, 1)


def test_spam_and_repeats_do_not_count() -> None:
    extra = [
        Vote("i0", "r", "x", "y", "second", kind="repeat", repeats="i0"),
        Vote("s", "r", "x", SHUFFLED_SYSTEM, "first", kind="spam"),
    ]
    assert measure_preference([*votes("xxxy"), *extra], "x", "y") == measure_preference(votes("xxxy"), "x", "y")


def test_only_ties_no_votes_and_unknown_pairs_are_unmeasured() -> None:
    tied = measure_preference(votes("==="), "x", "y")
    assert tied == Unmeasured("all 3 votes between x and y are ties")
    assert isinstance(measure_preference([], "x", "y"), Unmeasured)
    assert isinstance(measure_preference(votes("xx"), "x", "z"), Unmeasured)
    assert measure_preferences([]) == ()


def test_duplicate_votes_are_rejected() -> None:
    with pytest.raises(InputError, match="two votes on x and y in item 'i0'"):
        measure_preferences([*votes("x"), *votes("y")])
    with pytest.raises(InputError, match="with itself"):
        measure_preferences(votes("x", second="x"))


def test_agreeing_votes_on_an_item_count_as_fewer_effective_votes() -> None:
    own = [vote for rater in "abc" for vote in votes("xxxxxxxxyyyy", rater=rater)]
    found = _measured(measure_preference(own, "x", "y"))
    assert found.itemwise
    assert found.p_value == pytest.approx(binomial_p_value(24, 36))
    # All votes of an item agree, so it is 8 of 12 items: the binomial test of items.
    assert found.itemwise.p_value == pytest.approx(binomial_p_value(8, 12))
    assert found.interval is found.itemwise.bounds
    assert found.itemwise.effective_votes < 12
    assert found.interval.low < found.bounds[0].low


def test_groups_are_tested_with_holms_correction() -> None:
    own = [*votes("xxxxxxxx", language="fr"), *votes("xyxy", start=8, language="zh"), *votes("x", start=12)]
    french, chinese = preferences_by_group(own, "language")
    assert (french.name, chinese.name) == ("fr", "zh")
    assert isinstance(french.preference, Preference)
    assert french.corrected == pytest.approx(2 * french.preference.p_value)
    assert chinese.corrected == 1
    assert preferences_by_group(own, "book") == ()


def test_a_group_of_ties_is_unmeasured() -> None:
    own = [*votes("xx", language="fr"), *votes("==", start=2, language="zh")]
    last = preferences_by_group(own, "language")[-1]
    assert isinstance(last, PreferenceGroup)
    assert isinstance(last.preference, Unmeasured)
    assert last.corrected is None

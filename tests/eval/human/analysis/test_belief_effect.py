"""Effect of believing that a human wrote a text."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from eval.human.analysis.belief_effect import BeliefEffect, belief_effect
from eval.human.vote import Vote
from eval.statistics.counts import Unmeasured
from eval.statistics.odds_ratio import OddsRatio
from eval.statistics.proportion import Proportion
from tests.eval.human.analysis.vote_factory import votes


def _believing(own: list[Vote], beliefs: str) -> list[Vote]:
    """Add beliefs: "x" or "y" is the system believed human, "2" means both, "0" neither."""
    return [replace(vote, believed_human=_side(vote, one)) for vote, one in zip(own, beliefs, strict=True)]


def _side(vote: Vote, belief: str) -> Literal["first", "second", "both", "neither"]:
    if belief in "20":
        return "both" if belief == "2" else "neither"
    return "first" if vote.first == belief else "second"


def test_votes_that_follow_belief_within_items_show_an_effect() -> None:
    own = [
        vote
        for rater, line in (("a", "xxxxxxxx"), ("b", "yyyyyyyy"))
        for vote in _believing(votes(line, rater=rater), line)
    ]
    found = belief_effect(own)
    assert isinstance(found, BeliefEffect)
    assert (found.preferred.successes, found.preferred.trials) == (16, 16)
    assert isinstance(found.within_items, OddsRatio)
    assert found.within_items.p_value == pytest.approx(2 / 2**8)  # eight items, either way equally likely
    assert found.within_items.strata == 8


def test_a_better_text_that_is_also_believed_shows_no_effect_within_items() -> None:
    own = [vote for rater in "abc" for vote in _believing(votes("xxxxxxyy", rater=rater), "xxxxxxyy")]
    found = belief_effect(own, human="x")
    assert isinstance(found, BeliefEffect)
    assert found.preferred.p_value < 0.001
    assert isinstance(found.within_items, Unmeasured)  # no raters disagree on an item
    assert isinstance(found.right, Proportion)
    assert (found.right.successes, found.right.trials) == (18, 24)


def test_undecided_beliefs_are_counted_and_no_beliefs_are_unmeasured() -> None:
    found = belief_effect(_believing(votes("xxyx"), "x202"))
    assert isinstance(found, BeliefEffect)
    assert (found.undecided, found.preferred.trials) == (3, 1)
    assert isinstance(found.right, Unmeasured)
    for own in ([], votes("xy"), _believing(votes("=="), "xy"), _believing(votes("xy"), "20")):
        assert isinstance(belief_effect(own), Unmeasured)
    assert isinstance(belief_effect(_believing(votes("x"), "x"), human="z"), BeliefEffect)


def test_votes_on_the_same_items_are_clustered() -> None:
    line = "xxxxxyyx"
    own = [vote for rater in "abcd" for vote in _believing(votes(line, rater=rater), "xxxxxxxx")]
    found = belief_effect(own)
    assert isinstance(found, BeliefEffect)
    assert found.whole is not None
    assert found.whole.items == 8
    # Four raters who say the same on each of eight items: a coin for each item, 6 against 2 or worse, by hand.
    assert found.shown_p_value == pytest.approx(2 * (1 + 8 + 28) / 2**8)
    assert found.preferred.p_value < 0.01 < found.shown_p_value
    assert found.interval.low < found.preferred.wilson.low
    alone = belief_effect(_believing(votes(line), "xxxxxxxx"))
    assert isinstance(alone, BeliefEffect)
    assert alone.whole is None
    assert alone.interval == alone.preferred.wilson

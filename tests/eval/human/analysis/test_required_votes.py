"""Required number of votes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.human.analysis.preference_rates import Preference, measure_preference
from eval.human.analysis.required_votes import RequiredVotes, required_votes
from eval.statistics.counts import Unmeasured
from tests.eval.human.analysis.vote_factory import votes


def test_ties_are_expected_at_their_share_so_far() -> None:
    half = required_votes(measure_preference(votes("xxxyxxxyxx" + "=" * 10), "x", "y"))
    none = required_votes(measure_preference(votes("xxxyxxxyxx"), "x", "y"))
    assert isinstance(half, RequiredVotes)
    assert isinstance(none, RequiredVotes)
    assert half.tie_share == 0.5
    assert half.votes == 2 * none.votes
    assert (half.more, none.more) == (half.votes - 20, none.votes - 10)


def test_clustered_votes_are_needed_in_greater_number() -> None:
    apart = votes("xxxy" * 10)
    # The same forty votes, as four agreeing raters per item.
    together = [
        replace(vote, item=f"i{number // 4}", rater=f"r{number % 4}")
        for number, vote in enumerate(votes("xxxx" * 7 + "yyyy" * 2 + "xxyy"))
    ]
    one, other = (required_votes(measure_preference(given, "x", "y")) for given in (apart, together))
    assert isinstance(one, RequiredVotes)
    assert isinstance(other, RequiredVotes)
    assert one.worth == 1
    assert one.rate == other.rate == 0.75
    seen = measure_preference(together, "x", "y")
    assert isinstance(seen, Preference)
    assert seen.itemwise is not None
    assert (
        other.worth == seen.itemwise.worth > seen.itemwise.effective_votes / 40
    )  # few items alone do not require more votes
    assert 0.2 < other.worth < 0.3  # four nearly identical votes count as slightly more than one
    assert other.votes == pytest.approx(one.votes / other.worth, abs=1)


def test_at_low_is_none_if_the_interval_contains_one_half() -> None:
    open_ended = required_votes(measure_preference(votes("xxxyxyx"), "x", "y"))
    clear = required_votes(measure_preference(votes("x" * 40 + "y" * 10), "x", "y"))
    assert isinstance(open_ended, RequiredVotes)
    assert isinstance(clear, RequiredVotes)
    assert open_ended.at_low is None
    assert clear.at_low is not None
    assert clear.at_high is not None
    assert clear.at_high < clear.votes < clear.at_low
    assert clear.more == 0
    assert isinstance(required_votes(measure_preference([], "x", "y")), Unmeasured)

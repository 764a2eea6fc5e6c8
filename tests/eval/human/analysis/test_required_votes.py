"""How many votes are needed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import binom, binomtest  # type: ignore[import-untyped]

from ape.errors import InputError
from eval.human.analysis.preference_rates import Preference, measure_preference
from eval.human.analysis.required_votes import RequiredVotes, required_votes
from eval.statistics.binomial_power import binomial_power, votes_needed
from eval.statistics.counts import Unmeasured
from tests.eval.human.analysis.vote_factory import votes


@pytest.mark.parametrize(("number", "rate"), [(20, 0.7), (33, 0.5), (50, 0.62), (5, 0.9)])
def test_power_is_the_chance_of_all_counts_that_the_test_rejects(number: int, rate: float) -> None:
    rejected = [count for count in range(number + 1) if binomtest(count, number).pvalue < 0.05]
    assert binomial_power(number, rate) == pytest.approx(sum(binom.pmf(rejected, number, rate)))


@pytest.mark.parametrize("rate", [0.6, 0.7, 0.3, 0.95])
def test_from_the_number_needed_on_the_power_never_falls_back(rate: float) -> None:
    needed = votes_needed(rate)
    assert isinstance(needed, int)
    assert binomial_power(needed - 1, rate) < 0.8
    assert all(binomial_power(number, rate) >= 0.8 for number in range(needed, 2 * needed, 3))


def test_the_first_number_with_enough_power_is_not_enough_where_the_next_has_less() -> None:
    # The saw-tooth of the exact test, .7 against .5: 49 votes have 80%, 50 do not.
    assert binomial_power(49, 0.7) >= 0.8 > binomial_power(50, 0.7)
    assert votes_needed(0.7) == 54


def test_an_even_chance_and_one_as_good_as_even_are_reasons() -> None:
    assert isinstance(votes_needed(0.5), Unmeasured)
    found = votes_needed(0.5005)
    assert isinstance(found, Unmeasured)
    assert "20,000" in found.why
    with pytest.raises(InputError):
        votes_needed(1.2)


def test_ties_so_far_are_expected_to_go_on() -> None:
    half = required_votes(measure_preference(votes("xxxyxxxyxx" + "=" * 10), "x", "y"))
    none = required_votes(measure_preference(votes("xxxyxxxyxx"), "x", "y"))
    assert isinstance(half, RequiredVotes)
    assert isinstance(none, RequiredVotes)
    assert half.tie_share == 0.5
    assert half.votes == 2 * none.votes
    assert (half.more, none.more) == (half.votes - 20, none.votes - 10)


def test_votes_that_go_together_are_needed_in_greater_number() -> None:
    apart = votes("xxxy" * 10)
    # The same forty votes, four raters to an item who all say the same.
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
    )  # few items are no reason for more
    assert 0.2 < other.worth < 0.3  # four votes that nearly all say the same are one, and a little
    assert other.votes == pytest.approx(one.votes / other.worth, abs=1)


def test_a_number_up_to_the_most_is_told() -> None:
    # By the normal approximation, (1.96 + 0.84)² / (4 · 0.0105²) = 17,800 or so.
    assert votes_needed(0.5105) == pytest.approx(17_800, rel=0.02)


def test_where_even_is_not_ruled_out_the_near_end_has_no_number() -> None:
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

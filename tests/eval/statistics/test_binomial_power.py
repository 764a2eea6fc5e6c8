"""Power of the binomial test, and the votes that it needs."""

from __future__ import annotations

import pytest
from scipy.stats import binom, binomtest  # type: ignore[import-untyped]

from ape.errors import InputError
from eval.statistics.binomial_power import binomial_power, votes_needed
from eval.statistics.counts import Unmeasured


@pytest.mark.parametrize(("number", "rate"), [(20, 0.7), (33, 0.5), (50, 0.62), (5, 0.9)])
def test_power_is_the_probability_of_all_rejected_counts(number: int, rate: float) -> None:
    rejected = [count for count in range(number + 1) if binomtest(count, number).pvalue < 0.05]
    assert binomial_power(number, rate) == pytest.approx(sum(binom.pmf(rejected, number, rate)))


@pytest.mark.parametrize("rate", [0.6, 0.7, 0.3, 0.95])
def test_power_stays_sufficient_from_the_needed_number_on(rate: float) -> None:
    needed = votes_needed(rate)
    assert isinstance(needed, int)
    assert binomial_power(needed - 1, rate) < 0.8
    assert all(binomial_power(number, rate) >= 0.8 for number in range(needed, 2 * needed, 3))


def test_the_needed_number_is_after_the_last_dip_in_power() -> None:
    # The power of the exact test is a saw-tooth: at a rate of .7, 49 votes reach 80% and 50 do not.
    assert binomial_power(49, 0.7) >= 0.8 > binomial_power(50, 0.7)
    assert votes_needed(0.7) == 54


def test_even_and_nearly_even_rates_are_unmeasured() -> None:
    assert isinstance(votes_needed(0.5), Unmeasured)
    found = votes_needed(0.5005)
    assert isinstance(found, Unmeasured)
    assert "20,000" in found.why
    with pytest.raises(InputError):
        votes_needed(1.2)


def test_large_numbers_match_the_normal_approximation() -> None:
    # By the normal approximation, (1.96 + 0.84)² / (4 · 0.0105²) = about 17,800.
    assert votes_needed(0.5105) == pytest.approx(17_800, rel=0.02)

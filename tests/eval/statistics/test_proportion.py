"""Proportions, intervals and the binomial test: published numbers, scipy, and invariants."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest  # type: ignore[import-untyped]

from ape.errors import InputError
from eval.statistics.counts import Unmeasured
from eval.statistics.proportion import (
    Proportion,
    binomial_p_value,
    bonett_price_bounds,
    clopper_pearson_bounds,
    proportion,
    wilson_bounds,
)


def test_104_of_150_has_the_recomputed_p_and_intervals() -> None:
    # PAR3's post-edits over MT; p and intervals were recomputed independently.
    found = proportion(104, 150)
    assert isinstance(found, Proportion)
    assert found.p_value == pytest.approx(2.5e-6, rel=0.02)
    assert (round(found.wilson.low, 3), round(found.wilson.high, 3)) == (0.615, 0.762)
    assert (round(found.exact.low, 3), round(found.exact.high, 3)) == (0.613, 0.766)


def test_31_of_50_is_not_significant() -> None:
    assert binomial_p_value(31, 50) == pytest.approx(0.119, abs=5e-4)  # starred in PAR3's Table 6


@pytest.mark.parametrize(("wins", "p"), [(129, 5.5e-9), (120, 9.1e-6), (150, 2.2e-20)])
def test_the_three_p_values_of_karpinska_and_iyyer(wins: int, p: float) -> None:
    assert binomial_p_value(wins, 180) == pytest.approx(p, rel=0.03)


@given(st.integers(1, 300).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
@settings(max_examples=60, deadline=None)
def test_intervals_and_test_are_scipys(counts: tuple[int, int]) -> None:
    theirs = binomtest(*counts)
    assert binomial_p_value(*counts) == pytest.approx(theirs.pvalue, rel=1e-6)
    for ours, method in ((wilson_bounds(*counts), "wilson"), (clopper_pearson_bounds(*counts), "exact")):
        ends = theirs.proportion_ci(method=method)
        assert (ours.low, ours.high) == pytest.approx((ends.low, ends.high), abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_an_interval_of_half_wins_contains_its_rate_and_is_symmetric(wins: int, losses: int, ties: int) -> None:
    if not wins + losses + ties:
        return
    ours, theirs = bonett_price_bounds(wins, losses, ties), bonett_price_bounds(losses, wins, ties)
    rate = (wins + ties / 2) / (wins + losses + ties)
    assert ours.low <= rate <= ours.high
    assert (ours.low, ours.high) == pytest.approx((1 - theirs.high, 1 - theirs.low))


def test_an_interval_of_half_wins_by_hand() -> None:
    # 7 wins, 1 loss, 2 ties: (8 − 2)/12 = .5, ± 1.95996 √((10/12 − .25)/12) = .43213; halved and moved by a half.
    found = bonett_price_bounds(7, 1, 2)
    assert (found.low, found.high) == pytest.approx((0.53394, 0.96606), abs=1e-5)


def test_ties_narrow_the_interval_of_half_wins() -> None:
    tied, untied = bonett_price_bounds(30, 20, 50), bonett_price_bounds(55, 45, 0)
    assert tied.high - tied.low < untied.high - untied.low


def test_without_votes_there_is_no_interval() -> None:
    assert isinstance(proportion(0, 0), Unmeasured)


@pytest.mark.parametrize(("successes", "trials", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (0, 0, 0.95), (1, 2, 1.0)])
def test_an_invalid_proportion_is_refused(successes: int, trials: int, level: float) -> None:
    for make in (wilson_bounds, clopper_pearson_bounds):
        with pytest.raises(InputError):
            make(successes, trials, level=level)

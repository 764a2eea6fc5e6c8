"""Coverage and level on simulated votes: a small run with a fixed seed."""

from __future__ import annotations

from math import comb

import pytest

from benchmarks.studies.rater_simulation import CHEATING_BEHAVIOURS, coverage_without_flagged, measure_flag_rates
from benchmarks.studies.vote_simulation import (
    TRUE_RATES,
    VoteSetting,
    check_rate_intervals,
    check_sequential_looks,
    check_strength_intervals,
    exact_coverage,
)

# Of 95% in 300 rounds: three standard errors.
_NEAR = 3 * (0.95 * 0.05 / 300) ** 0.5


@pytest.mark.parametrize(
    "setting",
    [VoteSetting(0.5), VoteSetting(0.7), VoteSetting(0.6, ties=0.2), VoteSetting(0.5, items=40, raters=4, alike=0.3)],
    ids=["even", "uneven", "ties", "raters alike"],
)
def test_intervals_cover_and_tests_reject_at_their_level(setting: VoteSetting) -> None:
    for checked in check_rate_intervals([setting], rounds=300, seed=5):
        if setting.alike and "effective" not in checked.name:
            assert checked.covered < 0.95 - _NEAR, checked  # votes of an item are correlated
            continue
        careful = "Clopper" in checked.name
        assert checked.covered >= 0.95 - _NEAR, checked
        assert checked.covered <= (1 if careful else 0.95 + _NEAR), checked
        if setting.rate == 0.5:
            assert checked.rejected <= 0.05 + _NEAR, checked


def test_the_exact_coverage_of_small_numbers_is_that_of_the_binomial() -> None:
    even = exact_coverage(VoteSetting(0.5, items=50))
    # By hand: Wilson's interval contains one half from 19 to 31 wins of 50, as |x - 25| <= 1.96 * sqrt(12.5) says, and
    # Clopper and Pearson's from 18 to 32.
    ways = [comb(50, wins) / 2**50 for wins in range(51)]
    assert even["Wilson, ties left out"] == pytest.approx(sum(ways[19:32]))  # .9351
    assert even["Clopper-Pearson, ties left out"] == pytest.approx(sum(ways[18:33]))  # .9672
    assert exact_coverage(VoteSetting(0.5, ties=0.2)) == {}


@pytest.mark.parametrize("rate", TRUE_RATES)
@pytest.mark.parametrize("items", [50, 150])
def test_wilson_is_within_a_point_and_a_half_of_its_level(rate: float, items: int) -> None:
    assert exact_coverage(VoteSetting(rate, items=items))["Wilson, ties left out"] == pytest.approx(0.95, abs=0.015)


def test_looking_after_every_vote_is_wrong_often_with_a_binomial_test_and_not_with_ours() -> None:
    naive, ours, held = check_sequential_looks(0.5, votes=200, rounds=200, seed=5)
    assert naive > 0.2
    assert ours <= 0.05
    assert held >= 0.95


def test_intervals_of_strengths_cover() -> None:
    # 160 intervals, some of them from the same votes.
    assert check_strength_intervals((-0.5, 0.0, 0.5, 0.0), votes=150, rounds=40, seed=5, samples=200) >= 0.9


def test_cheating_raters_are_flagged() -> None:
    for behaviour, (share, _) in measure_flag_rates(rounds=6, seed=5).items():
        assert share >= 0.8 if behaviour in CHEATING_BEHAVIOURS else share <= 0.05, (behaviour, share)


def test_without_flagged_raters_the_interval_covers_the_true_rate() -> None:
    before, after = coverage_without_flagged(0.75, rounds=40, seed=5)
    assert before < 0.7
    assert after >= 0.875  # 95% less three standard errors would be .85

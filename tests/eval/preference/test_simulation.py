"""Promises kept where the truth is known: a small run of the printed simulation, with a fixed seed."""

from __future__ import annotations

from math import comb

import pytest

from eval.preference.simulated_raters import CHEATS, cleaned, flags
from eval.preference.simulation import RATES, Setting, coverage, peeking, rates, strengths

# Of 95% in 300 rounds: three standard errors.
_NEAR = 3 * (0.95 * 0.05 / 300) ** 0.5


@pytest.mark.parametrize(
    "setting",
    [Setting(0.5), Setting(0.7), Setting(0.6, ties=0.2), Setting(0.5, items=40, raters=4, alike=0.3)],
    ids=["even", "uneven", "ties", "raters alike"],
)
def test_intervals_cover_and_tests_reject_as_promised(setting: Setting) -> None:
    for kept in rates([setting], rounds=300, seed=5):
        if setting.alike and "effective" not in kept.name:
            assert kept.covered < 0.95 - _NEAR, (
                kept
            )  # votes are not independent, which is why items are wholes
            continue
        careful = "Clopper" in kept.name
        assert kept.covered >= 0.95 - _NEAR, kept
        assert kept.covered <= (1 if careful else 0.95 + _NEAR), kept
        if setting.rate == 0.5:
            assert kept.rejected <= 0.05 + _NEAR, kept


def test_the_exact_coverage_of_small_numbers_is_that_of_the_binomial() -> None:
    even = coverage(Setting(0.5, items=50))
    # By hand: Wilson's interval holds one half from 19 to 31 wins of 50, as |x - 25| <= 1.96 * sqrt(12.5) says, and
    # Clopper and Pearson's from 18 to 32.
    ways = [comb(50, wins) / 2**50 for wins in range(51)]
    assert even["Wilson, ties left out"] == pytest.approx(sum(ways[19:32]))  # .9351
    assert even["Clopper-Pearson, ties left out"] == pytest.approx(sum(ways[18:33]))  # .9672
    assert coverage(Setting(0.5, ties=0.2)) == {}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("items", [50, 150])
def test_wilson_is_within_a_point_and_a_half_of_its_level(rate: float, items: int) -> None:
    assert coverage(Setting(rate, items=items))["Wilson, ties left out"] == pytest.approx(0.95, abs=0.015)


def test_looking_after_every_vote_is_wrong_often_with_a_binomial_test_and_not_with_ours() -> None:
    naive, ours, held = peeking(0.5, votes=200, rounds=200, seed=5)
    assert naive > 0.2
    assert ours <= 0.05
    assert held >= 0.95


def test_intervals_of_strengths_cover() -> None:
    # 160 intervals, some of them of the same votes.
    assert strengths((-0.5, 0.0, 0.5, 0.0), votes=150, rounds=40, seed=5, samples=200) >= 0.9


def test_the_flagged_are_the_cheats() -> None:
    for manner, (share, _) in flags(rounds=6, seed=5).items():
        assert share >= 0.8 if manner in CHEATS else share <= 0.05, (manner, share)


def test_without_the_flagged_the_interval_holds_what_the_honest_say() -> None:
    before, after = cleaned(0.75, rounds=40, seed=5)
    assert before < 0.7
    assert after >= 0.875  # 95% less three standard errors would be .85

"""Coverage of intervals and level of tests on simulated votes: `python -m benchmarks.studies.vote_simulation`.

Rates: how often the interval covers the truth, and how often the test rejects an even chance, for rates from .5 to .8,
with ties, with several correlated raters per item, and with looks after every vote. If votes are independent and have
no ties, coverage is also computed exactly, over all possible counts. Strengths: how often Bradley-Terry intervals cover
the truth. Raters: how many cheating, honest and noisy raters are flagged, and how that changes coverage of the rate.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.studies.rater_simulation import coverage_without_flagged, measure_flag_rates
from eval.human.analysis.bradley_terry import bradley_terry
from eval.human.analysis.preference_rates import Preference, TieHandling, measure_preference
from eval.human.vote import Choice, Vote
from eval.statistics.bradley_terry import BradleyTerry, fit_strengths
from eval.statistics.confidence_sequence import log_evidence, sequential_look_at_wins
from eval.statistics.proportion import ProportionBounds

TRUE_RATES = (0.5, 0.6, 0.7, 0.8)
ROUNDS = 2000


@dataclass(frozen=True, slots=True)
class VoteSetting:
    """Parameters of simulated votes on two systems."""

    rate: float
    """probability that the first system wins a vote that is not a tie, over all items"""
    items: int = 150
    raters: int = 1
    ties: float = 0.0
    alike: float = 0.0
    """share of the variance that is due to the item: 0 if raters are independent, 1 if all agree"""


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """Measured coverage and rejection rate of an interval and its test."""

    name: str
    setting: VoteSetting
    covered: float
    rejected: float
    """how often an even chance is rejected at 5%"""
    rounds: int
    exactly: float | None
    """exact coverage, where it can be computed"""


def simulate_votes(setting: VoteSetting, chance: np.random.Generator) -> list[Vote]:
    """Simulate votes of every rater on every item, with random sides."""
    size = (setting.items, setting.raters)
    liking = np.full(setting.items, setting.rate)
    if setting.alike:
        spread = 1 / setting.alike - 1
        liking = chance.beta(setting.rate * spread, (1 - setting.rate) * spread, setting.items)
    tied = chance.random(size) < setting.ties
    won = chance.random(size) < liking[:, None]
    swapped = chance.random(size) < 0.5
    return [
        _simulate_vote(
            f"i{item}",
            f"r{rater}",
            swapped=bool(swapped[item, rater]),
            tied=bool(tied[item, rater]),
            won=bool(won[item, rater]),
        )
        for item in range(setting.items)
        for rater in range(setting.raters)
    ]


def _simulate_vote(item: str, rater: str, *, swapped: bool, tied: bool, won: bool) -> Vote:
    choice: Choice = "tie" if tied else ("second" if won == swapped else "first")
    one, other = ("y", "x") if swapped else ("x", "y")
    return Vote(item, rater, one, other, choice)


def check_rate_intervals(settings: Iterable[VoteSetting], *, rounds: int, seed: int) -> Iterator[PromiseCheck]:
    """Check every interval and test of a rate in each setting."""
    for setting in settings:
        chance = np.random.default_rng(seed)
        exact = exact_coverage(setting)
        covered: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        for _ in range(rounds):
            for name, bounds, truth, p_value in _intervals_and_tests(setting, simulate_votes(setting, chance)):
                covered[name] += bounds.low <= truth <= bounds.high
                rejected[name] += p_value < 0.05
        for name in covered:
            yield PromiseCheck(name, setting, covered[name] / rounds, rejected[name] / rounds, rounds, exact.get(name))


def exact_coverage(setting: VoteSetting) -> dict[str, float]:
    """Exact coverage of each interval; empty if votes are correlated or may be ties.

    With 50 votes, coverage jumps from rate to rate, and 2,000 rounds have an error of half a point.
    """
    from scipy.stats import binom  # type: ignore[import-untyped]

    if setting.raters > 1 or setting.ties or setting.alike:
        return {}
    covered: dict[str, float] = {}
    for wins in range(setting.items + 1):
        votes = [
            _simulate_vote(f"i{item}", "r0", swapped=False, tied=False, won=item < wins)
            for item in range(setting.items)
        ]
        likely = float(binom.pmf(wins, setting.items, setting.rate))
        for name, bounds, truth, _ in _intervals_and_tests(setting, votes):
            covered[name] = covered.get(name, 0.0) + likely * (bounds.low <= truth <= bounds.high)
    return covered


def _intervals_and_tests(
    setting: VoteSetting, votes: Sequence[Vote]
) -> Iterator[tuple[str, ProportionBounds, float, float]]:
    """Name, interval, true rate and p-value of each method."""
    halves = setting.rate * (1 - setting.ties) + setting.ties / 2
    handlings: tuple[tuple[TieHandling, float], ...] = (("left out", setting.rate), ("half a win each", halves))
    for handling, truth in handlings if setting.ties else handlings[:1]:
        found = measure_preference(votes, "x", "y", ties=handling)
        assert isinstance(found, Preference)
        for bounds in found.bounds:
            yield f"{bounds.method}, ties {handling}", bounds, truth, found.p_value
        if found.itemwise:
            name = f"{found.itemwise.bounds.method}, ties {handling}"
            yield name, found.itemwise.bounds, truth, found.itemwise.p_value


def check_sequential_looks(rate: float, *, votes: int, rounds: int, seed: int) -> tuple[float, float, float]:
    """With a look after every vote, how often a binomial test and ours are ever below 5%, and ours always covers."""
    from scipy.stats import binom

    chance = np.random.default_rng(seed)
    number = np.arange(1.0, votes + 1)
    naive = ours = held = 0
    for _ in range(rounds):
        won = chance.random(votes) < rate
        wins = np.cumsum(won.astype(float))
        least = np.minimum(wins, number - wins)
        naive += bool((2 * binom.cdf(least, number, 0.5) < 0.05).any())
        ours += sequential_look_at_wins([bool(one) for one in won]).p_value < 0.05
        held += bool((log_evidence(wins, number, rate) < np.log(20)).all())
    return naive / rounds, ours / rounds, held / rounds


def check_strength_intervals(
    truth: Sequence[float], *, votes: int, rounds: int, seed: int, ties: float = 0.0, samples: int = 500
) -> float:
    """Coverage of Bradley-Terry intervals, over all systems."""
    chance = np.random.default_rng(seed)
    names = [f"s{at}" for at in range(len(truth))]
    pairs = list(combinations(range(len(truth)), 2))
    # Half wins shrink strengths: the truth is the fit to infinitely many votes.
    target = _expected_strengths(truth, ties)
    held = total = 0
    for number in range(rounds):
        own = [_simulate_pair_vote(at, pairs[at % len(pairs)], truth, names, ties, chance) for at in range(votes)]
        found = bradley_terry(own, samples=samples, seed=number)
        assert isinstance(found, BradleyTerry)
        for one in found.strengths:
            low = -np.inf if one.low is None else one.low
            high = np.inf if one.high is None else one.high
            held += bool(low <= target[names.index(one.system)] <= high)
            total += 1
    return held / total


def _expected_strengths(truth: Sequence[float], ties: float) -> list[float]:
    values = np.asarray(truth, float)
    won = 1 / (1 + np.exp(values[None, :] - values[:, None]))
    shares = (1 - ties) * won + ties / 2
    np.fill_diagonal(shares, 0)
    return [float(value) for value in fit_strengths(shares[None], prior=np.zeros(1))[0]]


def _simulate_pair_vote(
    at: int,
    pair: tuple[int, int],
    truth: Sequence[float],
    names: Sequence[str],
    ties: float,
    chance: np.random.Generator,
) -> Vote:
    one, other = pair if chance.random() < 0.5 else pair[::-1]
    even = chance.random() < ties
    won = chance.random() < 1 / (1 + np.exp(truth[other] - truth[one]))
    choice: Choice = "tie" if even else ("first" if won else "second")
    return Vote(f"i{at}", "r", names[one], names[other], choice)


def vote_settings() -> Iterator[VoteSetting]:
    """All settings."""
    for rate in TRUE_RATES:
        yield VoteSetting(rate)
        yield VoteSetting(rate, items=50)
        yield VoteSetting(rate, ties=0.2)
        yield VoteSetting(rate, items=60, raters=5, alike=0.3)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.vote_simulation", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="number of rounds; fewer for strengths and raters")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for table in (_print_rates, _print_looks, _print_strengths, _print_raters):
        for line in table(max(given.rounds, 10), given.seed):
            print(line, flush=True)
        print()


def _print_rates(rounds: int, seed: int) -> Iterator[str]:
    yield f"rate  items  raters  ties  alike  {'interval':<46}  covers  exactly  rejects at 5%"
    for checked in check_rate_intervals(vote_settings(), rounds=rounds, seed=seed):
        setting = checked.setting
        yield (
            f"{setting.rate:4.2f}  {setting.items:>5}  {setting.raters:>6}  {setting.ties:4.2f}  {setting.alike:5.2f}"
            f"  {checked.name:<46}  {_share(checked.covered)}"
            f"  {'' if checked.exactly is None else _share(checked.exactly):>7}"
            f"  {_share(checked.rejected):>13}"
        )


def _print_looks(rounds: int, seed: int) -> Iterator[str]:
    yield "looks after each of 300 votes: rate, binomial ever below 5%, ours ever below 5%, interval never misses"
    for rate in TRUE_RATES:
        yield "  ".join(
            [f"{rate:4.2f}", *map(_share, check_sequential_looks(rate, votes=300, rounds=rounds, seed=seed))]
        )


def _print_strengths(rounds: int, seed: int) -> Iterator[str]:
    yield "Bradley-Terry, strengths −.75 −.25 .25 .75: votes, ties, covers"
    for votes, ties in ((150, 0.0), (300, 0.0), (300, 0.2), (1000, 0.0)):
        held = check_strength_intervals(
            (-0.75, -0.25, 0.25, 0.75), votes=votes, ties=ties, rounds=rounds // 4, seed=seed
        )
        yield f"{votes:>5}  {ties:4.2f}  {_share(held)}"


def _print_raters(rounds: int, seed: int) -> Iterator[str]:
    yield "raters: behaviour, flagged, by test (100 items, 10 spam, 10 repeats each)"
    for behaviour, (share, by) in measure_flag_rates(rounds=rounds // 10, seed=seed).items():
        yield f"{behaviour:<7}  {_share(share)}  {', '.join(f'{check} {count}' for check, count in by.most_common())}"
    yield "\nsix honest raters and three cheats: true rate, covered by all votes, covered without the flagged"
    for rate in TRUE_RATES:
        yield "  ".join([f"{rate:4.2f}", *map(_share, coverage_without_flagged(rate, rounds=rounds // 4, seed=seed))])


def _share(value: float) -> str:
    return f"{100 * value:5.1f}%"


if __name__ == "__main__":
    main()

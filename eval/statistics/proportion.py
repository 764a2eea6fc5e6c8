"""A share of votes, with the exact test against a coin and the intervals that keep their promise for small numbers.

Wilson's (1927) interval covers 95% on average over rates, Clopper and Pearson's (1934) at least 95% for every rate,
so it is wider. Where ties are half a win each a share is no binomial any more; Bonett and Price's (2012) interval for
paired answers is made for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from ape.errors import InputError
from eval.statistics.counts import Unmeasured

CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class ProportionBounds:
    """An interval, and whose."""

    low: float
    high: float
    method: str
    level: float = CONFIDENCE_LEVEL


@dataclass(frozen=True, slots=True)
class Proportion:
    """So many of so many: the share, its intervals, and how likely a coin does as much."""

    successes: int
    trials: int
    rate: float
    wilson: ProportionBounds
    exact: ProportionBounds
    p_value: float
    """Exact and two-sided, against one half."""


def proportion(successes: int, trials: int, *, level: float = CONFIDENCE_LEVEL) -> Proportion | Unmeasured:
    """All that can be said of a share; of no trial, nothing."""
    if not trials:
        return Unmeasured("there is no vote to count")
    return Proportion(
        successes,
        trials,
        successes / trials,
        wilson_bounds(successes, trials, level=level),
        clopper_pearson_bounds(successes, trials, level=level),
        binomial_p_value(successes, trials),
    )


def wilson_bounds(successes: float, trials: float, *, level: float = CONFIDENCE_LEVEL) -> ProportionBounds:
    """The score interval: the rates that a normal test would not reject. Effective votes may be fractions."""
    _refuse_impossible(successes, trials, level)
    z = _normal(level)
    rate = successes / trials
    spread = z * (rate * (1 - rate) / trials + z * z / (4 * trials * trials)) ** 0.5
    below = 1 + z * z / trials
    middle = rate + z * z / (2 * trials)
    low = max(0.0, (middle - spread) / below) if successes else 0.0
    high = min(1.0, (middle + spread) / below) if successes < trials else 1.0
    return ProportionBounds(low, high, "Wilson", level)


def clopper_pearson_bounds(
    successes: int, trials: int, *, level: float = CONFIDENCE_LEVEL
) -> ProportionBounds:
    """The rates that an exact test of either tail would not reject."""
    from scipy.special import betainccinv, betaincinv  # type: ignore[import-untyped]

    _refuse_impossible(successes, trials, level)
    tail = (1 - level) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(betainccinv(successes + 1, trials - successes, tail)) if successes < trials else 1.0
    return ProportionBounds(low, high, "Clopper-Pearson", level)


def bonett_price_bounds(
    wins: int, losses: int, ties: int, *, level: float = CONFIDENCE_LEVEL
) -> ProportionBounds:
    """Of (wins + ties/2) / votes: an adjusted Wald interval of the difference of two paired shares, halved."""
    _refuse_impossible(wins, wins + losses + ties, level)
    number = wins + losses + ties + 2
    won, lost = (wins + 1) / number, (losses + 1) / number
    apart = won - lost
    spread = _normal(level) * ((won + lost - apart * apart) / number) ** 0.5
    low, high = max(-1.0, apart - spread), min(1.0, apart + spread)
    return ProportionBounds((1 + low) / 2, (1 + high) / 2, "Bonett-Price", level)


def binomial_p_value(successes: int, trials: int) -> float:
    """The exact two-sided binomial test against one half, where either tail is as long."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(successes, trials - successes), trials, 0.5)))


def _normal(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _refuse_impossible(successes: float, trials: float, level: float) -> None:
    if not trials > 0 or not 0 <= successes <= trials:
        raise InputError(
            f"{successes:g} of {trials:g} is no share: count at least one vote, and no more wins."
        )
    if not 0 < level < 1:
        raise InputError(
            f"An interval holds a share between 0 and 1 of the time, not {level:g}.", field="level"
        )

"""Proportion of votes: confidence intervals and the exact two-sided binomial test against one half.

Wilson's (1927) interval covers 95% on average over rates; Clopper and Pearson's (1934) covers at least 95% at every
rate and is wider. When ties count as half a win each, the proportion is not binomial; Bonett and Price's (2012)
interval for paired answers handles that case.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from ape.errors import InputError
from eval.statistics.counts import Unmeasured

CONFIDENCE_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class ProportionBounds:
    """A confidence interval of a proportion, with the method that computed it."""

    low: float
    high: float
    method: str
    level: float = CONFIDENCE_LEVEL


@dataclass(frozen=True, slots=True)
class Proportion:
    """A binomial proportion with its intervals and test."""

    successes: int
    trials: int
    rate: float
    wilson: ProportionBounds
    exact: ProportionBounds
    p_value: float
    """Exact, two-sided, against one half."""


def proportion(successes: int, trials: int, *, level: float = CONFIDENCE_LEVEL) -> Proportion | Unmeasured:
    """Compute the rate, both intervals and the binomial test; Unmeasured without trials."""
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
    """Wilson score interval. Fractional counts (effective votes) are allowed."""
    _check_counts(successes, trials, level)
    z = _normal_quantile(level)
    rate = successes / trials
    half_width = z * (rate * (1 - rate) / trials + z * z / (4 * trials * trials)) ** 0.5
    scale = 1 + z * z / trials
    center = rate + z * z / (2 * trials)
    low = max(0.0, (center - half_width) / scale) if successes else 0.0
    high = min(1.0, (center + half_width) / scale) if successes < trials else 1.0
    return ProportionBounds(low, high, "Wilson", level)


def clopper_pearson_bounds(successes: int, trials: int, *, level: float = CONFIDENCE_LEVEL) -> ProportionBounds:
    """Exact (Clopper-Pearson) interval."""
    from scipy.special import betainccinv, betaincinv  # type: ignore[import-untyped]

    _check_counts(successes, trials, level)
    tail = (1 - level) / 2
    low = float(betaincinv(successes, trials - successes + 1, tail)) if successes else 0.0
    high = float(betainccinv(successes + 1, trials - successes, tail)) if successes < trials else 1.0
    return ProportionBounds(low, high, "Clopper-Pearson", level)


def bonett_price_bounds(wins: int, losses: int, ties: int, *, level: float = CONFIDENCE_LEVEL) -> ProportionBounds:
    """Interval of (wins + ties/2) / votes: half the adjusted Wald interval of a difference of paired proportions."""
    _check_counts(wins, wins + losses + ties, level)
    number = wins + losses + ties + 2
    won, lost = (wins + 1) / number, (losses + 1) / number
    difference = won - lost
    half_width = _normal_quantile(level) * ((won + lost - difference * difference) / number) ** 0.5
    low, high = max(-1.0, difference - half_width), min(1.0, difference + half_width)
    return ProportionBounds((1 + low) / 2, (1 + high) / 2, "Bonett-Price", level)


def binomial_p_value(successes: int, trials: int) -> float:
    """Exact two-sided binomial test against one half."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(successes, trials - successes), trials, 0.5)))


def _normal_quantile(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _check_counts(successes: float, trials: float, level: float) -> None:
    if not trials > 0 or not 0 <= successes <= trials:
        raise InputError(
            f"{successes:g} of {trials:g} is not a proportion: count at least one vote and at most as many wins."
        )
    if not 0 < level < 1:
        raise InputError(f"A confidence level lies between 0 and 1, not {level:g}.", field="level")

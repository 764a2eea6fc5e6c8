"""Power of the exact two-sided binomial test, and the number of votes that reaches a given power."""

from __future__ import annotations

import numpy as np

from ape.errors import InputError
from eval.statistics.counts import FloatArray, Unmeasured

POWER = 0.8
ALPHA = 0.05
MOST_VOTES = 20_000
"""Largest sample size considered; a rate that needs more is practically even."""


def binomial_power(votes: int, rate: float, *, alpha: float = ALPHA) -> float:
    """Probability that the test rejects an even chance after this many votes without ties."""
    return float(_powers(np.array([float(votes)]), rate, alpha=alpha)[0])


def _powers(votes: FloatArray, rate: float, *, alpha: float) -> FloatArray:
    from scipy.stats import binom  # type: ignore[import-untyped]

    # The test rejects up to this count and from its mirror image on; the quantile itself may be one too many.
    critical = binom.ppf(alpha / 2, votes, 0.5)
    critical = np.where(binom.cdf(critical, votes, 0.5) <= alpha / 2, critical, critical - 1)
    powers: FloatArray = binom.cdf(critical, votes, rate) + binom.sf(votes - critical - 1, votes, rate)
    return powers


def votes_needed(rate: float, *, power: float = POWER, alpha: float = ALPHA) -> int | Unmeasured:
    """Smallest number of votes from which on the power, which rises in a saw-tooth, stays at or above the target."""
    if not 0 <= rate <= 1:
        raise InputError(f"A rate lies between 0 and 1, not {rate:g}.", field="rate")
    if not 0 < power < 1 or not 0 < alpha < 1:
        raise InputError("Power and alpha lie between 0 and 1.", field="power")
    if rate == 0.5:
        return Unmeasured("the rate is exactly even, and no number of votes can show a preference")
    most = 64
    while most <= 4 * MOST_VOTES:
        below = np.flatnonzero(_powers(np.arange(1.0, most + 1), rate, alpha=alpha) < power)
        # The last dip below the target is close to the first rise above it: half of the range is enough to see it.
        if not len(below) or below[-1] + 1 < most / 2:
            needed = int(below[-1] + 2) if len(below) else 1
            if needed <= MOST_VOTES:
                return needed
            break
        most *= 2
    return Unmeasured(f"more than {MOST_VOTES:,} votes would be needed")

"""How many votes are needed: the power of the exact two-sided binomial test, by its whole distribution.

Votes on one item, or on one document that was read as a whole, go together, and so many more of them are needed as they
say less than independent ones did so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from ape.errors import InputError
from eval.human.analysis.preference_rates import Preference
from eval.statistics.counts import FloatArray, Unmeasured

POWER = 0.8
ALPHA = 0.05
MOST_VOTES = 20_000
"""Votes beyond which nobody will go; a rate that needs more is as good as even."""


@dataclass(frozen=True, slots=True)
class RequiredVotes:
    """How many votes show a preference of this size, and how many of them are still to come."""

    rate: float
    votes: int
    """Ties too, if as many tie as so far."""
    more: int
    at_low: int | None
    """If the rate is really at the near end of its interval; None: that end is even, and no number would do."""
    at_high: int | None
    """If it is at the far end."""
    tie_share: float
    worth: float
    """Of an independent vote, what one says: 1 where every item has one."""
    power: float
    alpha: float


def binomial_power(votes: int, rate: float, *, alpha: float = ALPHA) -> float:
    """How likely the test rejects an even chance after so many votes without ties."""
    return float(_powers(np.array([float(votes)]), rate, alpha=alpha)[0])


def _powers(votes: FloatArray, rate: float, *, alpha: float) -> FloatArray:
    from scipy.stats import binom  # type: ignore[import-untyped]

    # The test rejects up to this count and from its mirror image on; the quantile itself may be one too many.
    last = binom.ppf(alpha / 2, votes, 0.5)
    last = np.where(binom.cdf(last, votes, 0.5) <= alpha / 2, last, last - 1)
    found: FloatArray = binom.cdf(last, votes, rate) + binom.sf(votes - last - 1, votes, rate)
    return found


def votes_needed(rate: float, *, power: float = POWER, alpha: float = ALPHA) -> int | Unmeasured:
    """The fewest votes from which on the power never falls below what is asked; it goes up in a saw-tooth."""
    if not 0 <= rate <= 1:
        raise InputError(f"A rate lies between 0 and 1, and {rate:g} does not.", field="rate")
    if not 0 < power < 1 or not 0 < alpha < 1:
        raise InputError("Power and level lie between 0 and 1.", field="power")
    if rate == 0.5:
        return Unmeasured("an even chance can't be told from an even chance, however many votes there are")
    most = 64
    while most <= 4 * MOST_VOTES:
        short = np.flatnonzero(_powers(np.arange(1.0, most + 1), rate, alpha=alpha) < power)
        # A fall below what is asked is not far behind the first rise above it: half of the way is enough to see it.
        if not len(short) or short[-1] + 1 < most / 2:
            found = int(short[-1] + 2) if len(short) else 1
            if found <= MOST_VOTES:
                return found
            break
        most *= 2
    return Unmeasured(f"more than {MOST_VOTES:,} votes would be needed")


def required_votes(
    preference: Preference | Unmeasured,
    *,
    rate: float | None = None,
    power: float = POWER,
    alpha: float = ALPHA,
) -> RequiredVotes | Unmeasured:
    """How many more votes the test needs if the rate is as seen so far, or as given."""
    if isinstance(preference, Unmeasured):
        return preference
    decided = preference.wins + preference.losses
    share = preference.ties / preference.votes
    aimed = preference.wins / decided if rate is None else rate
    found = votes_needed(aimed, power=power, alpha=alpha)
    if isinstance(found, Unmeasured):
        return found
    worth = preference.itemwise.worth if preference.itemwise else 1.0
    whole = _with_the_rest(found, share, worth)
    near, far = sorted((preference.interval.low, preference.interval.high), key=lambda end: abs(end - 0.5))
    crosses = preference.interval.low <= 0.5 <= preference.interval.high
    ends = [
        None if crosses and end is near else votes_needed(end, power=power, alpha=alpha)
        for end in (near, far)
    ]
    low, high = (
        None if one is None or isinstance(one, Unmeasured) else _with_the_rest(one, share, worth)
        for one in ends
    )
    more = max(0, whole - preference.votes)
    return RequiredVotes(aimed, whole, more, low, high, share, worth, power, alpha)


def _with_the_rest(independent: int, ties: float, worth: float) -> int:
    """So many votes in all that as many independent ones without ties are among them."""
    return ceil(round(independent / worth / (1 - ties), 6))

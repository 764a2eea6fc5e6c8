"""Number of votes needed to show a preference, allowing for ties and for clustered votes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from eval.human.analysis.preference_rates import Preference
from eval.statistics.binomial_power import ALPHA, POWER, votes_needed
from eval.statistics.counts import Unmeasured


@dataclass(frozen=True, slots=True)
class RequiredVotes:
    """Votes needed to show a preference of this rate, and how many are still missing."""

    rate: float
    votes: int
    """Total, ties included at their share so far."""
    more: int
    at_low: int | None
    """Votes needed if the true rate is at the end of its interval nearest to even; None if the interval contains one
    half."""
    at_high: int | None
    """Votes needed if the true rate is at the far end."""
    tie_share: float
    worth: float
    """Information of one vote relative to an independent vote: 1 where every item has one vote."""
    power: float
    alpha: float


def required_votes(
    preference: Preference | Unmeasured, *, rate: float | None = None, power: float = POWER, alpha: float = ALPHA
) -> RequiredVotes | Unmeasured:
    """Estimate the votes that the binomial test needs at the observed rate, or at the given one."""
    if isinstance(preference, Unmeasured):
        return preference
    expected = preference.wins / (preference.wins + preference.losses) if rate is None else rate
    independent = votes_needed(expected, power=power, alpha=alpha)
    if isinstance(independent, Unmeasured):
        return independent
    tie_share = preference.ties / preference.votes
    worth = preference.itemwise.worth if preference.itemwise else 1.0
    bounds = preference.interval
    near, far = sorted((bounds.low, bounds.high), key=lambda end: abs(end - 0.5))

    def total(votes: int | Unmeasured) -> int | None:
        return None if isinstance(votes, Unmeasured) else ceil(round(votes / worth / (1 - tie_share), 6))

    whole = ceil(round(independent / worth / (1 - tie_share), 6))
    return RequiredVotes(
        expected,
        whole,
        max(0, whole - preference.votes),
        None if bounds.low <= 0.5 <= bounds.high else total(votes_needed(near, power=power, alpha=alpha)),
        total(votes_needed(far, power=power, alpha=alpha)),
        tie_share,
        worth,
        power,
        alpha,
    )

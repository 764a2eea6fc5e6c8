"""Looks without cheating: an interval and a test that stay right however often one looks, and whenever one stops.

Whoever looks at a running test every evening and stops at the first p < .05 is wrong far more often than one time in
twenty. Boundaries with a spending function (O'Brien and Fleming's, Lan and DeMets') mend that for a test whose length
is known. Votes come one by one, their number is seldom kept to, and a page of live results is looked at whenever
somebody likes; so we take Robbins's (1970) mixture. The likelihood of the votes under a mixture of rates, over that
under one rate, is a martingale if that one is true, and by Ville's (1939) inequality it ever exceeds 20 with a chance
of 1/20 at most. The rates for which it has not make the interval. Its price: at 200 votes it is some 1.5 times as
wide as Wilson's.

Where several pairs of systems are looked at, each is given its part of the one time in twenty (Bonferroni): then it is
the chance that any of them is ever decided wrongly.

A second vote on the same two texts is not independent of the first, so each item counts once, by its first vote. Of
documents whose passages are read one after the other it is each document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ape.errors import InputError
from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL, ProportionBounds

# The mixture is Beta(10, 10): rates of preference are seldom beyond .3 and .7. Any other is as right, and wider there.
_MIXTURE = 10.0
# Logarithm of the odds of a rate that differs from 1 by a rounding.
_FAR = 36.0


@dataclass(frozen=True, slots=True)
class SequentialLook:
    """What may be said now, and still be right after any number of looks before and after."""

    system: str
    other: str
    wins: int
    votes: int
    """The first on each item, or document that was read as one, without ties."""
    rate: float
    bounds: ProportionBounds
    p_value: float
    """Always valid: the smallest that any look so far could have given, times the pairs."""
    decided_at: int | None
    """After so many votes an even chance was ruled out; None: it is not yet."""
    preferred: str | None = None
    """The system that it was then decided for, whatever came later."""
    level: float = CONFIDENCE_LEVEL
    """Of all pairs together."""
    pairs: int = 1

    @property
    def turned(self) -> bool:
        """Whether the votes since then have done away with the lead by which it was decided."""
        ahead = self.bounds.low if self.preferred == self.system else 1 - self.bounds.high
        return self.preferred is not None and ahead <= 0.5


def sequential_look(
    votes: Iterable[Vote], system: str, other: str, *, level: float = CONFIDENCE_LEVEL, pairs: int = 1
) -> SequentialLook | Unmeasured:
    """The votes in the order of their times, or as given where a time is missing.

    `pairs` is how many pairs of systems are looked at, this one among them.
    """
    own = [
        vote
        for vote in select_pair_votes(votes)
        if {vote.first, vote.second} == {system, other} and vote.winner
    ]
    if not own:
        return Unmeasured(f"there is no vote that prefers {system} or {other}")
    if all(vote.at for vote in own):
        own.sort(key=lambda vote: vote.at)
    firsts = {vote.unit: vote for vote in reversed(own)}
    won = [vote.winner == system for vote in own if firsts[vote.unit] is vote]
    return sequential_look_at_wins(won, system, other, level=level, pairs=pairs)


def sequential_look_at_wins(
    won: Sequence[bool],
    system: str = "the one",
    other: str = "the other",
    *,
    level: float = CONFIDENCE_LEVEL,
    pairs: int = 1,
) -> SequentialLook:
    """From each vote in turn, whether the system won it."""
    if not len(won):
        raise InputError("There is no vote to look at.")
    wins = np.cumsum(np.asarray(won, np.float64))
    number = np.arange(1.0, len(wins) + 1)
    against = log_evidence(wins, number, 0.5)
    each = 1 - (1 - level) / pairs
    decided = np.flatnonzero(against >= -np.log(1 - each))
    first = int(decided[0]) if len(decided) else None
    return SequentialLook(
        system,
        other,
        int(wins[-1]),
        len(wins),
        float(wins[-1] / len(wins)),
        confidence_sequence_bounds(int(wins[-1]), len(wins), level=each),
        min(1.0, pairs * float(np.exp(-against.max()))),
        None if first is None else first + 1,
        None if first is None else (system if 2 * wins[first] > number[first] else other),
        level,
        pairs,
    )


def log_evidence(wins: FloatArray, votes: FloatArray, rate: float) -> FloatArray:
    """The logarithm of the mixture's likelihood over that of one rate."""
    from scipy.special import logit  # type: ignore[import-untyped]

    return _evidence(wins, votes, float(logit(rate)))


def _evidence(wins: FloatArray, votes: FloatArray, odds: float) -> FloatArray:
    """Of a rate by the logarithm of its odds: near 0 and 1 the rate itself has too few digits."""
    from scipy.special import betaln

    mixed = betaln(_MIXTURE + wins, _MIXTURE + votes - wins) - betaln(_MIXTURE, _MIXTURE)
    found: FloatArray = mixed + wins * np.logaddexp(0, -odds) + (votes - wins) * np.logaddexp(0, odds)
    return found


def confidence_sequence_bounds(wins: int, votes: int, *, level: float = CONFIDENCE_LEVEL) -> ProportionBounds:
    """The rates that the votes so far have not ruled out."""
    from scipy.special import expit, logit

    limit = -np.log(1 - level)

    def beyond(odds: float) -> float:
        return float(_evidence(np.array(wins, float), np.array(votes, float), odds) - limit)

    # The likeliest rate is never ruled out; where that is 0 or 1, any rate near it will do to begin with.
    middle = float(np.clip(logit(wins / votes), -_FAR, _FAR))
    low = float(expit(_root(beyond, middle, -1.0))) if wins else 0.0
    high = float(expit(_root(beyond, middle, 1.0))) if wins < votes else 1.0
    return ProportionBounds(low, high, "confidence sequence", level)


def _root(beyond: Callable[[float], float], start: float, step: float) -> float:
    """Where it turns positive, going from the start in steps that double."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    end = start + step
    while beyond(end) <= 0:
        step *= 2
        end += step
    return float(brentq(beyond, start, end))

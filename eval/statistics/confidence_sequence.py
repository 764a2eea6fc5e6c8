"""Confidence sequence for a rate: an interval and a test that stay valid at every look and for any stopping rule.

Repeated looks at a running test, stopped at the first p < .05, reject a true null far more often than 5% of the time.
Spending functions (O'Brien and Fleming; Lan and DeMets) correct for looks at a test of known length. Votes arrive one
by one without a fixed number, so Robbins's (1970) mixture is used instead: the likelihood of the votes under a Beta
mixture of rates, divided by that under one rate, is a martingale if that rate is true, and by Ville's (1939)
inequality it ever exceeds 20 with probability at most 1/20. The interval contains the rates that were not rejected.
At 200 votes it is about 1.5 times as wide as Wilson's.

With several pairs of systems the level is divided between them (Bonferroni), which controls the family-wise error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ape.errors import InputError
from eval.statistics.counts import FloatArray
from eval.statistics.proportion import CONFIDENCE_LEVEL, ProportionBounds

# Beta(10, 10), since preference rates are seldom beyond .3 and .7. Any other mixture is valid, and wider there.
_MIXTURE = 10.0
# Log odds of a rate that differs from 1 by a rounding error.
_MAX_LOG_ODDS = 36.0


@dataclass(frozen=True, slots=True)
class SequentialLook:
    """Result for one pair of systems that is valid after any number of earlier and later looks."""

    system: str
    other: str
    wins: int
    votes: int
    """First votes on each item, or on each document where votes are clustered by document; without ties."""
    rate: float
    bounds: ProportionBounds
    p_value: float
    """Anytime-valid: the smallest of all looks so far, times the number of pairs."""
    decided_at: int | None
    """Number of votes at which an even chance was rejected; None if not yet."""
    preferred: str | None = None
    """The system that won at that point, whatever came later."""
    level: float = CONFIDENCE_LEVEL
    """Family-wise, over all pairs."""
    pairs: int = 1

    @property
    def lead_lost(self) -> bool:
        """Whether the interval no longer supports the decision."""
        lead = self.bounds.low if self.preferred == self.system else 1 - self.bounds.high
        return self.preferred is not None and lead <= 0.5


def sequential_look_at_wins(
    won: Sequence[bool],
    system: str = "first",
    other: str = "second",
    *,
    level: float = CONFIDENCE_LEVEL,
    pairs: int = 1,
) -> SequentialLook:
    """Compute the look from the outcome of each vote in order: whether the system won it."""
    if not len(won):
        raise InputError("There is no vote to analyse.")
    wins = np.cumsum(np.asarray(won, np.float64))
    number = np.arange(1.0, len(wins) + 1)
    evidence = log_evidence(wins, number, 0.5)
    pair_level = 1 - (1 - level) / pairs
    decided = np.flatnonzero(evidence >= -np.log(1 - pair_level))
    first = int(decided[0]) if len(decided) else None
    return SequentialLook(
        system,
        other,
        int(wins[-1]),
        len(wins),
        float(wins[-1] / len(wins)),
        confidence_sequence_bounds(int(wins[-1]), len(wins), level=pair_level),
        min(1.0, pairs * float(np.exp(-evidence.max()))),
        None if first is None else first + 1,
        None if first is None else (system if 2 * wins[first] > number[first] else other),
        level,
        pairs,
    )


def log_evidence(wins: FloatArray, votes: FloatArray, rate: float) -> FloatArray:
    """Log likelihood ratio of the mixture to one rate."""
    from scipy.special import logit  # type: ignore[import-untyped]

    return _log_evidence_at(wins, votes, float(logit(rate)))


def _log_evidence_at(wins: FloatArray, votes: FloatArray, log_odds: float) -> FloatArray:
    """The same for a rate given by its log odds: near 0 and 1 the rate itself loses precision."""
    from scipy.special import betaln

    mixture = betaln(_MIXTURE + wins, _MIXTURE + votes - wins) - betaln(_MIXTURE, _MIXTURE)
    evidence: FloatArray = mixture + wins * np.logaddexp(0, -log_odds) + (votes - wins) * np.logaddexp(0, log_odds)
    return evidence


def confidence_sequence_bounds(wins: int, votes: int, *, level: float = CONFIDENCE_LEVEL) -> ProportionBounds:
    """Interval of the rates that the votes so far have not rejected."""
    from scipy.special import expit, logit

    limit = -np.log(1 - level)

    def excess(log_odds: float) -> float:
        return float(_log_evidence_at(np.array(wins, float), np.array(votes, float), log_odds) - limit)

    # The maximum-likelihood rate is never rejected; where it is 0 or 1, the search starts near it.
    start = float(np.clip(logit(wins / votes), -_MAX_LOG_ODDS, _MAX_LOG_ODDS))
    low = float(expit(_root(excess, start, -1.0))) if wins else 0.0
    high = float(expit(_root(excess, start, 1.0))) if wins < votes else 1.0
    return ProportionBounds(low, high, "confidence sequence", level)


def _root(function: Callable[[float], float], start: float, step: float) -> float:
    """Find where the function becomes positive, bracketing from the start in doubling steps."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    end = start + step
    while function(end) <= 0:
        step *= 2
        end += step
    return float(brentq(function, start, end))

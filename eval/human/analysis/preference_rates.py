"""Preference rates between two systems, overall and by language, book or rater."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ape.errors import InputError
from eval.human.analysis.vote_selection import pairs_in_votes, select_pair_votes
from eval.human.vote import Vote
from eval.statistics.clustered_proportion import ClusteredProportion, clustered_proportion_by_unit
from eval.statistics.counts import Unmeasured
from eval.statistics.multiple_comparisons import holm_correction
from eval.statistics.proportion import (
    CONFIDENCE_LEVEL,
    ProportionBounds,
    binomial_p_value,
    bonett_price_bounds,
    clopper_pearson_bounds,
    wilson_bounds,
)

TieHandling: TypeAlias = Literal["left out", "half a win each"]
VoteGrouping: TypeAlias = Literal["language", "book", "rater"]


@dataclass(frozen=True, slots=True)
class Preference:
    """How often `system` was preferred to `other`."""

    system: str
    other: str
    wins: int
    losses: int
    ties: int
    rate: float
    bounds: tuple[ProportionBounds, ...]
    """Votes taken as independent."""
    p_value: float
    """Exact two-sided binomial test of wins against losses; ties are ignored, however the rate counts them."""
    handling: TieHandling
    itemwise: ClusteredProportion | None = None
    """Interval and test with clustered votes, where an item or document has several."""

    @property
    def votes(self) -> int:
        """All votes, ties included."""
        return self.wins + self.losses + self.ties

    @property
    def interval(self) -> ProportionBounds:
        """The interval to show: clustered where that applies."""
        return self.itemwise.bounds if self.itemwise else self.bounds[0]

    @property
    def shown_p_value(self) -> float:
        """The p-value that matches the interval."""
        return self.itemwise.p_value if self.itemwise else self.p_value


@dataclass(frozen=True, slots=True)
class PreferenceGroup:
    """Preference for one pair of systems among the votes of one language, book or rater."""

    by: VoteGrouping
    name: str
    pair: tuple[str, str]
    preference: Preference | Unmeasured
    corrected: float | None = None
    """p-value with Holm's correction over all groups of the pair."""


def measure_preference(
    votes: Iterable[Vote], system: str, other: str, *, ties: TieHandling = "left out", level: float = CONFIDENCE_LEVEL
) -> Preference | Unmeasured:
    """Compute the rate, its intervals and its test."""
    if system == other:
        raise InputError(f"{system!r} can't be preferred to itself.")
    own = [vote for vote in select_pair_votes(votes) if {vote.first, vote.second} == {system, other}]
    if not own:
        return Unmeasured(f"there is no vote between {system} and {other}")
    wins = sum(vote.winner == system for vote in own)
    losses = sum(vote.winner == other for vote in own)
    tied = len(own) - wins - losses
    if not wins + losses:
        return Unmeasured(f"all {tied:,} votes between {system} and {other} are ties")
    if ties == "left out":
        own = [vote for vote in own if vote.winner]
        rate = wins / (wins + losses)
        bounds = tuple(method(wins, wins + losses, level=level) for method in (wilson_bounds, clopper_pearson_bounds))
    else:
        rate = (wins + tied / 2) / len(own)
        bounds = (bonett_price_bounds(wins, losses, tied, level=level),)
    clustered = clustered_proportion_by_unit(
        [vote.unit for vote in own], [win_share(vote, system) for vote in own], level=level
    )
    return Preference(
        system, other, wins, losses, tied, rate, bounds, binomial_p_value(wins, wins + losses), ties, clustered
    )


def win_share(vote: Vote, system: str) -> float:
    """The share of a win that a vote gives a system: 1, 0.5 for a tie, or 0."""
    return 0.5 if vote.winner is None else float(vote.winner == system)


def measure_preferences(
    votes: Iterable[Vote], *, ties: TieHandling = "left out", level: float = CONFIDENCE_LEVEL
) -> tuple[Preference | Unmeasured, ...]:
    """Measure every pair of systems; the one with more wins is named first."""
    own = select_pair_votes(votes)
    return tuple(
        measure_preference(own, *_winner_first(own, pair), ties=ties, level=level) for pair in pairs_in_votes(own)
    )


def _winner_first(votes: Iterable[Vote], pair: tuple[str, str]) -> tuple[str, str]:
    won = Counter(vote.winner for vote in votes if vote.pair == pair)
    return pair if won[pair[0]] >= won[pair[1]] else (pair[1], pair[0])


def preferences_by_group(
    votes: Iterable[Vote], by: VoteGrouping, *, ties: TieHandling = "left out"
) -> tuple[PreferenceGroup, ...]:
    """Measure every pair in every group; votes without a value for the group are left out."""
    own = [vote for vote in select_pair_votes(votes) if getattr(vote, by)]
    found: list[PreferenceGroup] = []
    for pair in pairs_in_votes(own):
        system, other = _winner_first(own, pair)
        of_pair = [vote for vote in own if vote.pair == pair]
        names = sorted({getattr(vote, by) for vote in of_pair})
        each = [
            measure_preference([vote for vote in of_pair if getattr(vote, by) == name], system, other, ties=ties)
            for name in names
        ]
        tested = [one.shown_p_value for one in each if isinstance(one, Preference)]
        corrected = iter(holm_correction(tested))
        found += [
            PreferenceGroup(by, name, (system, other), one, next(corrected) if isinstance(one, Preference) else None)
            for name, one in zip(names, each, strict=True)
        ]
    return tuple(found)

"""Preference rates between two systems, overall and by language, book or rater, and position bias."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ape.errors import InputError
from eval.human.analysis.vote_selection import pairs_in_votes, select_pair_votes
from eval.human.vote import Vote
from eval.statistics.clustered_proportion import ClusteredProportion, clustered_proportion_by_unit
from eval.statistics.counts import Unmeasured
from eval.statistics.multiple_comparisons import holm_correction
from eval.statistics.odds_ratio import OddsRatio, clustered_odds_ratio
from eval.statistics.proportion import (
    CONFIDENCE_LEVEL,
    Proportion,
    ProportionBounds,
    binomial_p_value,
    bonett_price_bounds,
    clopper_pearson_bounds,
    proportion,
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


@dataclass(frozen=True, slots=True)
class PositionEffect:
    """Position bias: whether the text shown first is preferred."""

    first: Proportion
    """How often the text shown first was preferred, ties left out."""
    shown: tuple[tuple[str, int], ...]
    """How often each system was shown first."""
    odds: OddsRatio | Unmeasured
    """Odds of winning when shown first, stratified by pair of systems, so an unbalanced order does not bias them."""
    runs: ClusteredProportion | None = None
    """The same, clustered by rater and document, where one system is first throughout a document."""

    @property
    def interval(self) -> ProportionBounds:
        """The interval to show: clustered where that applies."""
        return self.runs.bounds if self.runs else self.first.wilson

    @property
    def shown_p_value(self) -> float:
        """The p-value that matches the interval."""
        return self.runs.p_value if self.runs else self.first.p_value


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


def position_effect(votes: Iterable[Vote], *, level: float = CONFIDENCE_LEVEL) -> PositionEffect | Unmeasured:
    """Measure position bias: the rate at which the text shown first is preferred, and its odds."""
    own = select_pair_votes(votes)
    decided = [vote for vote in own if vote.winner]
    share = proportion(sum(vote.choice == "first" for vote in decided), len(decided), level=level)
    if isinstance(share, Unmeasured):
        return Unmeasured("no vote prefers either text" if own else share.why)
    shown = Counter(vote.first for vote in own)
    # In the document condition one system is first throughout a run; otherwise every vote has its own position.
    cells = [
        (_run(vote) if vote.document else number, vote.pair, vote.first == vote.pair[0], vote.winner == vote.pair[0])
        for number, vote in enumerate(decided)
    ]
    odds = clustered_odds_ratio(cells, level=level)
    return PositionEffect(share, tuple(sorted(shown.items())), odds, _by_run(decided, level=level))


def _by_run(votes: Sequence[Vote], *, level: float) -> ClusteredProportion | None:
    if not any(vote.document for vote in votes):
        return None
    return clustered_proportion_by_unit(
        list(map(_run, votes)), [float(vote.choice == "first") for vote in votes], level=level
    )


def _run(vote: Vote) -> tuple[str, str, tuple[str, str]]:
    """A rater's consecutive passages of one document."""
    return vote.rater, vote.unit, vote.pair

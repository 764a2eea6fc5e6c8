"""How often one system is preferred to another: in all votes, by language, book or rater, and by place on the page."""

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
    """Exact, two-sided, of wins against losses; a tie takes no side whatever it counts in the rate."""
    handling: TieHandling
    itemwise: ClusteredProportion | None = None
    """Where an item, or a document that was read as one, has several votes."""

    @property
    def votes(self) -> int:
        """Ties too."""
        return self.wins + self.losses + self.ties

    @property
    def interval(self) -> ProportionBounds:
        """The one to show: with items as wholes where that makes a difference."""
        return self.itemwise.bounds if self.itemwise else self.bounds[0]

    @property
    def shown_p_value(self) -> float:
        """Of the same test as the interval."""
        return self.itemwise.p_value if self.itemwise else self.p_value


@dataclass(frozen=True, slots=True)
class PreferenceGroup:
    """The preference of one pair among the votes of one language, book or rater."""

    by: VoteGrouping
    name: str
    pair: tuple[str, str]
    preference: Preference | Unmeasured
    corrected: float | None = None
    """Its p-value after Holm's correction over all groups of the pair."""


@dataclass(frozen=True, slots=True)
class PositionEffect:
    """Whether the place on the page moved votes."""

    first: Proportion
    """How often the text shown first was preferred, of the votes that are no tie."""
    shown: tuple[tuple[str, int], ...]
    """How often each system was shown first."""
    odds: OddsRatio | Unmeasured
    """Of winning when shown first against second, pair by pair: not moved by an order that was not balanced."""
    runs: ClusteredProportion | None = None
    """Where documents were read with one system first throughout: a rater's votes on one are taken together."""

    @property
    def interval(self) -> ProportionBounds:
        """The one to show: with runs as wholes where there are such."""
        return self.runs.bounds if self.runs else self.first.wilson

    @property
    def shown_p_value(self) -> float:
        """Of the same test as the interval."""
        return self.runs.p_value if self.runs else self.first.p_value


def measure_preference(
    votes: Iterable[Vote],
    system: str,
    other: str,
    *,
    ties: TieHandling = "left out",
    level: float = CONFIDENCE_LEVEL,
) -> Preference | Unmeasured:
    """The rate, its intervals and its test, or why there is none."""
    if system == other:
        raise InputError(f"{system!r} can't be preferred to itself.")
    own = [vote for vote in select_pair_votes(votes) if {vote.first, vote.second} == {system, other}]
    if not own:
        return Unmeasured(f"there is no vote between {system} and {other}")
    wins = sum(vote.winner == system for vote in own)
    losses = sum(vote.winner == other for vote in own)
    equal = len(own) - wins - losses
    if not wins + losses:
        return Unmeasured(f"all {equal:,} votes between {system} and {other} are ties")
    if ties == "left out":
        own = [vote for vote in own if vote.winner]
        rate = wins / (wins + losses)
        found = wilson_bounds, clopper_pearson_bounds
        bounds = tuple(make(wins, wins + losses, level=level) for make in found)
    else:
        rate = (wins + equal / 2) / len(own)
        bounds = (bonett_price_bounds(wins, losses, equal, level=level),)
    whole = clustered_proportion_by_unit(
        [vote.unit for vote in own], [win_share(vote, system) for vote in own], level=level
    )
    return Preference(
        system, other, wins, losses, equal, rate, bounds, binomial_p_value(wins, wins + losses), ties, whole
    )


def win_share(vote: Vote, system: str) -> float:
    """What a vote gives to one of its two systems: a win, half of one, or nothing."""
    return 0.5 if vote.winner is None else float(vote.winner == system)


def measure_preferences(
    votes: Iterable[Vote], *, ties: TieHandling = "left out", level: float = CONFIDENCE_LEVEL
) -> tuple[Preference | Unmeasured, ...]:
    """Of every pair that was compared; the system with more wins is named first."""
    own = select_pair_votes(votes)
    return tuple(
        measure_preference(own, *_winner_first(own, pair), ties=ties, level=level)
        for pair in pairs_in_votes(own)
    )


def _winner_first(votes: Iterable[Vote], pair: tuple[str, str]) -> tuple[str, str]:
    won = Counter(vote.winner for vote in votes if vote.pair == pair)
    return pair if won[pair[0]] >= won[pair[1]] else (pair[1], pair[0])


def preferences_by_group(
    votes: Iterable[Vote], by: VoteGrouping, *, ties: TieHandling = "left out"
) -> tuple[PreferenceGroup, ...]:
    """Every pair in every language, or book, or of every rater; votes that do not say theirs are left out."""
    own = [vote for vote in select_pair_votes(votes) if getattr(vote, by)]
    found: list[PreferenceGroup] = []
    for pair in pairs_in_votes(own):
        system, other = _winner_first(own, pair)
        of_pair = [vote for vote in own if vote.pair == pair]
        names = sorted({getattr(vote, by) for vote in of_pair})
        each = [
            measure_preference(
                [vote for vote in of_pair if getattr(vote, by) == name], system, other, ties=ties
            )
            for name in names
        ]
        tested = [one.shown_p_value for one in each if isinstance(one, Preference)]
        corrected = iter(holm_correction(tested))
        found += [
            PreferenceGroup(
                by, name, (system, other), one, next(corrected) if isinstance(one, Preference) else None
            )
            for name, one in zip(names, each, strict=True)
        ]
    return tuple(found)


def position_effect(votes: Iterable[Vote], *, level: float = CONFIDENCE_LEVEL) -> PositionEffect | Unmeasured:
    """How often what was shown first was preferred, and the odds of winning there."""
    own = select_pair_votes(votes)
    decided = [vote for vote in own if vote.winner]
    share = proportion(sum(vote.choice == "first" for vote in decided), len(decided), level=level)
    if isinstance(share, Unmeasured):
        return Unmeasured("no vote prefers either text" if own else share.why)
    shown = Counter(vote.first for vote in own)
    # In documents one system is first throughout; else each vote has a place of its own.
    cells = [
        (
            _run(vote) if vote.document else number,
            vote.pair,
            vote.first == vote.pair[0],
            vote.winner == vote.pair[0],
        )
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
    """A rater's passages of a document, read one after the other."""
    return vote.rater, vote.unit, vote.pair

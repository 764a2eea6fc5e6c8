"""Complete analysis of votes: rates, strengths, agreement, raters, belief, power and sequential looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from eval.human.analysis.belief_effect import BeliefEffect, belief_effect
from eval.human.analysis.bradley_terry import bradley_terry
from eval.human.analysis.position_effect import PositionEffect, position_effect
from eval.human.analysis.preference_rates import (
    Preference,
    PreferenceGroup,
    TieHandling,
    measure_preferences,
    preferences_by_group,
)
from eval.human.analysis.rater_agreement import RaterAgreement, rater_agreement
from eval.human.analysis.rater_checks import RaterReliability, check_raters
from eval.human.analysis.rater_rankings import RaterRankings, rater_rankings
from eval.human.analysis.required_votes import RequiredVotes, required_votes
from eval.human.analysis.sequential_looks import sequential_look
from eval.human.analysis.span_analysis import SpanAnalysis, analyse_spans
from eval.human.analysis.text_report import format_analysis
from eval.human.analysis.vote_selection import raters_in_votes, select_pair_votes, systems_in_votes
from eval.human.span_rating import ratings_of_votes
from eval.human.trial import Trial
from eval.human.vote import Vote
from eval.statistics.bradley_terry import BradleyTerry
from eval.statistics.confidence_sequence import SequentialLook
from eval.statistics.counts import Unmeasured
from eval.statistics.multiple_comparisons import holm_correction
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES

__all__ = ["VoteAnalysis", "analyse_votes", "format_analysis"]


@dataclass(frozen=True, slots=True)
class VoteAnalysis:
    """All results; each has an interval, or is Unmeasured with the reason."""

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    items: int
    documents: int
    """Documents by which votes are clustered; 0 where passages were shown singly."""
    votes: int
    """Votes on pairs, which all rates count."""
    repeats: int
    spam: int
    ties: TieHandling
    """How rates handle ties; Bradley-Terry strengths count a tie as half a win each."""
    seed: int
    samples: int
    preferences: tuple[Preference | Unmeasured, ...]
    """One for each pair of systems, over all raters."""
    corrected: tuple[float | None, ...]
    """Their p-values with Holm's correction over the pairs."""
    trusted: tuple[Preference | Unmeasured, ...]
    """Preferences without the flagged raters; empty if no rater is flagged."""
    by_language: tuple[PreferenceGroup, ...]
    by_book: tuple[PreferenceGroup, ...]
    by_rater: tuple[PreferenceGroup, ...]
    position: PositionEffect | Unmeasured
    bradley_terry: BradleyTerry | Unmeasured
    rankings: RaterRankings | Unmeasured
    agreement: RaterAgreement | Unmeasured
    rater_checks: tuple[RaterReliability, ...]
    belief: BeliefEffect | Unmeasured
    needed: tuple[RequiredVotes | Unmeasured, ...]
    """In the order of `preferences`."""
    looks: tuple[SequentialLook | Unmeasured, ...]
    """In the order of `preferences`, with family-wise error control over all pairs."""
    spans: SpanAnalysis | None = None
    """Of trials in which raters mark spans; None in others."""

    @property
    def flagged(self) -> tuple[str, ...]:
        """Names of the raters who failed a check."""
        return tuple(rater.name for rater in self.rater_checks if rater.flagged)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; an unmeasured result is an object with its reason."""
        return {"flagged": list(self.flagged)} | {
            field.name: _plain(getattr(self, field.name)) for field in fields(self)
        }


def analyse_votes(
    votes: Sequence[Vote],
    *,
    seed: int = 1,
    samples: int = BOOTSTRAP_SAMPLES,
    ties: TieHandling = "left out",
    human: str = "",
    trial: Trial | None = None,
) -> VoteAnalysis:
    """Compute every result; `human` names the system of human translations, if there is one.

    The trial has the lengths of the texts, which agreement on spans needs.
    """
    own = select_pair_votes(votes)
    checks = check_raters(votes)
    flagged = {rater.name for rater in checks if rater.flagged}
    rates = measure_preferences(own, ties=ties)
    trusted = measure_preferences([vote for vote in own if vote.rater not in flagged], ties=ties) if flagged else ()
    return VoteAnalysis(
        systems_in_votes(own),
        raters_in_votes(votes),
        len({vote.item for vote in own}),
        len({vote.document for vote in own if vote.document}),
        len(own),
        sum(vote.kind == "repeat" for vote in votes),
        sum(vote.kind == "spam" for vote in votes),
        ties,
        seed,
        samples,
        rates,
        _corrected(rates),
        trusted,
        preferences_by_group(own, "language", ties=ties),
        preferences_by_group(own, "book", ties=ties),
        preferences_by_group(own, "rater", ties=ties),
        position_effect(own),
        bradley_terry(own, samples=samples, seed=seed),
        rater_rankings(own, samples=samples, seed=seed),
        rater_agreement(own, samples=samples, seed=seed),
        checks,
        belief_effect(own, human=human),
        tuple(required_votes(rate) for rate in rates),
        tuple(
            rate if isinstance(rate, Unmeasured) else sequential_look(own, rate.system, rate.other, pairs=len(rates))
            for rate in rates
        ),
        analyse_spans(ratings_of_votes(votes, trial), samples=samples, seed=seed),
    )


def _corrected(rates: Iterable[Preference | Unmeasured]) -> tuple[float | None, ...]:
    own = list(rates)
    corrected = iter(holm_correction([rate.shown_p_value for rate in own if isinstance(rate, Preference)]))
    return tuple(next(corrected) if isinstance(rate, Preference) else None for rate in own)


def _plain(value: Any) -> Any:
    if isinstance(value, Unmeasured):
        return {"unmeasured": value.why}
    if isinstance(value, PositionEffect):
        return {"rate": value.rate} | _fields(value)
    if isinstance(value, Preference):
        return {"interval": _plain(value.interval)} | _fields(value)
    if isinstance(value, RaterReliability):
        return {"flagged": list(value.flagged)} | _fields(value)
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, tuple | list) else value


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}

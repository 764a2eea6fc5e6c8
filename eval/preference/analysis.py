"""All that votes say, in one result: rates, strengths, agreement, raters, belief, power and looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from eval.metric import Unmeasured
from eval.preference.agreement import Agreement, agreement
from eval.preference.belief import BeliefEffect, belief_effect
from eval.preference.bootstrap import SAMPLES
from eval.preference.bradley_terry import BradleyTerry, bradley_terry
from eval.preference.counted import counted, raters_of, systems_of
from eval.preference.power import Needed, more_votes
from eval.preference.ranking import Rankings, rankings
from eval.preference.raters import Rater, check_raters
from eval.preference.rates import Group, Position, Preference, Ties, grouped, position, preferences
from eval.preference.sequential import Look, look
from eval.preference.telling import tell
from eval.preference.vote import Vote
from eval.significance.many import holm

__all__ = ["Analysis", "analyse", "tell"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """Every part is a result with its interval, or the reason why there is none."""

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    items: int
    documents: int
    """That were read as one each, and whose votes are taken together; 0 where passages stood alone."""
    votes: int
    """On pairs: these are what is counted."""
    repeats: int
    spam: int
    ties: Ties
    """How they are handled in rates; Bradley and Terry's strengths take them as half a win each."""
    seed: int
    samples: int
    preferences: tuple[Preference | Unmeasured, ...]
    """Of each pair of systems, all raters."""
    corrected: tuple[float | None, ...]
    """Their p-values after Holm's correction over the pairs."""
    trusted: tuple[Preference | Unmeasured, ...]
    """The same without the raters who were flagged; none where nobody was."""
    by_language: tuple[Group, ...]
    by_book: tuple[Group, ...]
    by_rater: tuple[Group, ...]
    position: Position | Unmeasured
    bradley_terry: BradleyTerry | Unmeasured
    rankings: Rankings | Unmeasured
    agreement: Agreement | Unmeasured
    rater_checks: tuple[Rater, ...]
    belief: BeliefEffect | Unmeasured
    needed: tuple[Needed | Unmeasured, ...]
    """As `preferences`."""
    looks: tuple[Look | Unmeasured, ...]
    """As `preferences`; right of all pairs together."""

    @property
    def flagged(self) -> tuple[str, ...]:
        """Raters who failed a test."""
        return tuple(rater.name for rater in self.rater_checks if rater.flagged)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; what could not be measured is an object with its reason."""
        return {"flagged": list(self.flagged)} | {
            one.name: _plain(getattr(self, one.name)) for one in fields(self)
        }


def analyse(
    votes: Sequence[Vote],
    *,
    seed: int = 1,
    samples: int = SAMPLES,
    ties: Ties = "left out",
    human: str = "",
) -> Analysis:
    """Everything there is to say; `human` names the system that is a person's, if one is."""
    own = counted(votes)
    checks = check_raters(votes)
    flagged = {rater.name for rater in checks if rater.flagged}
    rates = preferences(own, ties=ties)
    trusted = preferences([vote for vote in own if vote.rater not in flagged], ties=ties) if flagged else ()
    return Analysis(
        systems_of(own),
        raters_of(votes),
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
        grouped(own, "language", ties=ties),
        grouped(own, "book", ties=ties),
        grouped(own, "rater", ties=ties),
        position(own),
        bradley_terry(own, samples=samples, seed=seed),
        rankings(own, samples=samples, seed=seed),
        agreement(own, samples=samples, seed=seed),
        checks,
        belief_effect(own, human=human),
        tuple(more_votes(rate) for rate in rates),
        tuple(
            rate if isinstance(rate, Unmeasured) else look(own, rate.system, rate.other, pairs=len(rates))
            for rate in rates
        ),
    )


def _corrected(rates: Iterable[Preference | Unmeasured]) -> tuple[float | None, ...]:
    own = list(rates)
    corrected = iter(holm([rate.p_to_show for rate in own if isinstance(rate, Preference)]))
    return tuple(next(corrected) if isinstance(rate, Preference) else None for rate in own)


def _plain(value: Any) -> Any:
    if isinstance(value, Unmeasured):
        return {"unmeasured": value.why}
    if isinstance(value, Preference):
        return {"interval": _plain(value.interval)} | _fields(value)
    if isinstance(value, Rater):
        return {"flagged": list(value.flagged)} | _fields(value)
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _fields(value: Any) -> dict[str, Any]:
    return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}

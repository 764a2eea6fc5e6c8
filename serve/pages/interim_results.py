"""Interim results of a blind test: votes so far, preferences, and what can be concluded already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ape.files.hashing import hash_text
from ape.reports.number_format import format_p_value
from ape.reports.plot_geometry import IntervalLine, Scale

if TYPE_CHECKING:
    from eval.human.analysis.preference_rates import Preference
    from eval.human.trial import Trial
    from eval.human.trial_store import TrialStore
    from eval.human.vote import Vote
    from eval.statistics.confidence_sequence import SequentialLook

_SHARES = Scale(0, 1)


@dataclass(frozen=True, slots=True)
class InterimPair:
    """Results of one pair of systems."""

    system: str
    other: str
    wins: int
    losses: int
    ties: int
    planned: IntervalLine
    """Valid for one look planned before the first vote."""
    any_time: IntervalLine
    """Valid at any number of looks; from the first vote on each item or document."""
    items: int
    """How many items or documents have such a vote."""
    p_planned: str
    p_any_time: str
    decided: bool
    conclusion: str


@dataclass(frozen=True, slots=True)
class InterimRater:
    """A rater and the checks of their votes."""

    name: str
    votes: int
    flags: tuple[str, ...]
    last: str
    """Time of the last vote."""
    noted: tuple[str, ...] = ()
    """Observations that are not flags."""
    untested: tuple[str, ...] = ()
    """Names of the checks that need more votes."""


@dataclass(frozen=True, slots=True)
class InterimResults:
    """The content of the results page."""

    trial: str
    name: str
    facts: tuple[tuple[str, str], ...]
    items: int
    votes: int
    expected: int
    pairs: tuple[InterimPair, ...]
    unmeasured: tuple[str, ...]
    """Why a pair, or every pair, has no result."""
    raters: tuple[InterimRater, ...]
    position_note: str
    """Whether the position on the page affects votes."""
    unit: str = "item"
    """Or "document": the unit whose first vote counts in sequential looks."""
    pair_count: int = 1
    """How many pairs of systems the intervals and p-values are corrected for."""

    @property
    def is_complete(self) -> bool:
        """Whether all raters have voted on all items."""
        return 0 < self.expected <= self.votes


def interim_results(trials: TrialStore, id: str, known_etag: str = "") -> tuple[str, InterimResults | None]:
    """Return an ETag of the votes, and the results unless the ETag is the known one."""
    trial, votes, invited = trials.trial(id), trials.votes(id), trials.raters(id)
    etag = hash_text(repr((votes, invited)), length=32, errors="replace")
    if etag == known_etag:
        return etag, None
    raters = _raters([rater.name for rater in invited], votes)
    unit = "document" if trial.condition == "document" else "item"
    pairs, unmeasured = _pairs(votes, planned=_planned(trial), unit=unit)
    found = InterimResults(
        trial=trial.id,
        name=trial.name,
        facts=_facts(trial),
        items=len(trial.items),
        votes=len(votes),
        expected=min(trial.per_rater or len(trial.items), len(trial.items)) * len(raters),
        pairs=pairs,
        unmeasured=unmeasured,
        raters=raters,
        position_note=_position_note(votes),
        unit=unit,
        pair_count=len(_planned(trial)),
    )
    return etag, found


def _planned(trial: Trial) -> dict[tuple[str, str], int]:
    """Count the planned items or documents of each pair of systems, with or without votes."""
    documents = {passage.id: passage.document for passage in trial.passages}
    by_document = trial.condition == "document"
    units_of: dict[tuple[str, str], set[str]] = {}
    for item in trial.items:
        if item.kind == "pair":
            unit = documents[item.passage] if by_document else item.id
            units_of.setdefault(_couple(*item.systems), set()).add(unit)
    return {couple: len(units) for couple, units in units_of.items()}


def _couple(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


def _facts(trial: Trial) -> tuple[tuple[str, str], ...]:
    kinds = {kind: sum(item.kind == kind for item in trial.items) for kind in ("pair", "repeat", "spam")}
    source = "with the original" if trial.bilingual else "without the original"
    pairs = [f"{kinds['pair']:,} pairs"]
    if kinds["repeat"]:
        pairs.append(f"{kinds['repeat']:,} of them repeated")
    if kinds["spam"]:
        one = kinds["spam"] == 1
        copies = "text against its shuffled copy" if one else "texts against their shuffled copies"
        pairs.append(f"{kinds['spam']:,} {copies}, as attention checks")
    return (
        ("Systems", ", ".join(trial.systems)),
        ("Passages", "; ".join(pairs)),
        ("Shown", f"by the {trial.condition}, {source}{'' if trial.ties else ', no ties'}"),
    )


def _raters(names: Sequence[str], votes: Sequence[Vote]) -> tuple[InterimRater, ...]:
    from eval.human.analysis.rater_checks import check_raters

    checks = {rater.name: rater for rater in check_raters(votes)}
    last: dict[str, str] = {}
    count: dict[str, int] = {}
    for vote in votes:
        last[vote.rater] = max(last.get(vote.rater, ""), vote.at)
        count[vote.rater] = count.get(vote.rater, 0) + 1
    found = []
    for name in names:
        rater = InterimRater(name, count.get(name, 0), (), last.get(name, ""))
        if check := checks.get(name):
            rater = replace(rater, flags=check.flagged, noted=check.notes, untested=tuple(check.untested))
        found.append(rater)
    return tuple(found)


def _pairs(
    votes: Sequence[Vote], *, planned: Mapping[tuple[str, str], int], unit: str
) -> tuple[tuple[InterimPair, ...], tuple[str, ...]]:
    from eval.human.analysis.preference_rates import measure_preferences
    from eval.statistics.counts import Unmeasured
    from eval.statistics.multiple_comparisons import holm_correction

    found = measure_preferences(votes)
    if not found:
        return (), ("There are no votes on pairs yet.",)
    seen = [one for one in found if not isinstance(one, Unmeasured)]
    # A pair without votes has a p-value of 1.
    corrected = holm_correction([one.shown_p_value for one in seen] + [1.0] * (len(planned) - len(seen)))
    pairs = tuple(_pair(votes, one, corrected[at], planned, unit=unit) for at, one in enumerate(seen))
    return pairs, tuple(f"{one.why[:1].upper()}{one.why[1:]}." for one in found if isinstance(one, Unmeasured))


def _pair(
    votes: Sequence[Vote], seen: Preference, corrected: float, planned: Mapping[tuple[str, str], int], *, unit: str
) -> InterimPair:
    from eval.human.analysis.sequential_looks import sequential_look
    from eval.statistics.counts import Unmeasured

    any_time = sequential_look(votes, seen.system, seen.other, pairs=len(planned))
    assert not isinstance(any_time, Unmeasured)  # a preference has votes that prefer
    return InterimPair(
        seen.system,
        seen.other,
        seen.wins,
        seen.losses,
        seen.ties,
        _SHARES.interval(seen.rate, seen.interval.low, seen.interval.high),
        _SHARES.interval(any_time.rate, any_time.bounds.low, any_time.bounds.high),
        any_time.votes,
        format_p_value(corrected),
        format_p_value(any_time.p_value),
        any_time.decided_at is not None and not any_time.lead_lost,
        _conclusion(seen, any_time, unit, planned[_couple(seen.system, seen.other)]),
    )


def _conclusion(seen: Preference, any_time: SequentialLook, unit: str, planned: int) -> str:
    """Sequential looks count the first vote on each item; a single planned look counts all votes."""
    from eval.human.analysis.required_votes import required_votes
    from eval.statistics.counts import Unmeasured

    if any_time.decided_at is not None:
        since = f"after {any_time.decided_at:,} {unit}s, however often you looked: {any_time.preferred}"
        if any_time.lead_lost:
            return f"Decided {since} was preferred. Later votes point the other way: find out why before you report it."
        return f"Decided {since} is preferred."
    needed = required_votes(seen)
    if any_time.votes >= planned:
        return (
            f"Not decided by sequential looks, and every {unit} has its first vote: only more {unit}s would decide it. "
            "A single look when all votes are in uses the interval of all votes."
        )
    if isinstance(needed, Unmeasured):
        return f"Not decided: {needed.why}."
    if not needed.more:
        return "Not decided yet by sequential looks."
    votes = "1 more vote" if needed.more == 1 else f"{needed.more:,} more votes"
    return f"Not decided. If the rate stays as it is, about {votes} would decide it in one planned look."


def _position_note(votes: Sequence[Vote]) -> str:
    from eval.human.analysis.position_effect import position_effect
    from eval.statistics.counts import Unmeasured

    found = position_effect(votes)
    if isinstance(found, Unmeasured):
        return ""
    tested = "" if isinstance(found.odds, Unmeasured) else f" ({format_p_value(found.odds.p_value)} within pairs)"
    return f"The text shown first was preferred in {100 * found.rate:.0f}% of {found.trials:,} votes{tested}."

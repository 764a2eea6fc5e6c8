"""How a test stands while it runs: who has voted, who is preferred so far, and what may be said of that already."""

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
    """One pair of systems."""

    system: str
    other: str
    wins: int
    losses: int
    ties: int
    planned: IntervalLine
    """Right for one look that was planned before the first vote."""
    any_time: IntervalLine
    """Right however often one looks; of the first vote on each item, or document that was read as one."""
    items: int
    """Or documents, that have such a vote."""
    p_planned: str
    p_any_time: str
    decided: bool
    tells: str


@dataclass(frozen=True, slots=True)
class InterimRater:
    """One rater."""

    name: str
    votes: int
    flags: tuple[str, ...]
    last: str
    """When this rater last voted."""
    noted: tuple[str, ...] = ()
    """What is known short of a flag."""
    untested: tuple[str, ...] = ()
    """The tests that can't say anything yet, by name."""


@dataclass(frozen=True, slots=True)
class InterimResults:
    """All that the page shows."""

    trial: str
    name: str
    facts: tuple[tuple[str, str], ...]
    items: int
    votes: int
    expected: int
    lines: tuple[InterimPair, ...]
    unmeasured: tuple[str, ...]
    """Why there is no line for a pair, or for any."""
    seats: tuple[InterimRater, ...]
    place: str
    """Whether the place on the page moves votes."""
    unit: str = "item"
    """Or "document": what counts once, however often one looks."""
    pairs: int = 1
    """Of systems; intervals and p-values are right of all of them together."""

    @property
    def is_complete(self) -> bool:
        """Whether everyone has voted on everything."""
        return 0 < self.expected <= self.votes


def interim_results(trials: TrialStore, id: str, known: str = "") -> tuple[str, InterimResults | None]:
    """A mark of the votes as they are, and how the test stands; None where the mark is the known one."""
    trial, votes, raters = trials.trial(id), trials.votes(id), trials.raters(id)
    mark = hash_text(repr((votes, raters)), length=32, errors="replace")
    if mark == known:
        return mark, None
    seats = _raters([rater.name for rater in raters], votes)
    unit = "document" if trial.condition == "document" else "item"
    lines, unmeasured = _pairs(votes, planned=_planned(trial), unit=unit)
    found = InterimResults(
        trial=trial.id,
        name=trial.name,
        facts=_facts(trial),
        items=len(trial.items),
        votes=len(votes),
        expected=len(trial.items) * len(seats),
        lines=lines,
        unmeasured=unmeasured,
        seats=seats,
        place=_position_note(votes),
        unit=unit,
        pairs=len(_planned(trial)),
    )
    return mark, found


def _planned(trial: Trial) -> dict[tuple[str, str], int]:
    """Of each pair of systems, on how many items or documents it is shown: votes on some may still be to come."""
    documents = {passage.id: passage.document for passage in trial.passages}
    by_document = trial.condition == "document"
    shown: dict[tuple[str, str], set[str]] = {}
    for item in trial.items:
        if item.kind == "pair":
            unit = documents[item.passage] if by_document else item.id
            shown.setdefault(_couple(*item.systems), set()).add(unit)
    return {couple: len(units) for couple, units in shown.items()}


def _couple(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


def _facts(trial: Trial) -> tuple[tuple[str, str], ...]:
    kinds = {kind: sum(item.kind == kind for item in trial.items) for kind in ("pair", "repeat", "spam")}
    shown = "with the original beside it" if trial.bilingual else "without the original"
    pairs = [f"{kinds['pair']:,} pairs"]
    if kinds["repeat"]:
        pairs.append(f"{kinds['repeat']:,} of them once more")
    if kinds["spam"]:
        one = kinds["spam"] == 1
        copies = "text beside its shuffled copy" if one else "texts beside their shuffled copies"
        pairs.append(f"{kinds['spam']:,} {copies}, to catch who does not read")
    return (
        ("Systems", ", ".join(trial.systems)),
        ("Passages", "; ".join(pairs)),
        ("Shown", f"by the {trial.condition}, {shown}{'' if trial.ties else ', no ties'}"),
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
        seat = InterimRater(name, count.get(name, 0), (), last.get(name, ""))
        if check := checks.get(name):
            seat = replace(seat, flags=check.flagged, noted=check.notes, untested=tuple(check.untested))
        found.append(seat)
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
    # Of a pair that has no vote yet nothing is known, which is a p of 1.
    corrected = holm_correction([one.shown_p_value for one in seen] + [1.0] * (len(planned) - len(seen)))
    lines = tuple(_pair(votes, one, corrected[at], planned, unit=unit) for at, one in enumerate(seen))
    return lines, tuple(
        f"{one.why[:1].upper()}{one.why[1:]}." for one in found if isinstance(one, Unmeasured)
    )


def _pair(
    votes: Sequence[Vote],
    seen: Preference,
    corrected: float,
    planned: Mapping[tuple[str, str], int],
    *,
    unit: str,
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
    """Where it stands. Looking as often as one likes counts the first vote on each item; looking once, all of them."""
    from eval.human.analysis.required_votes import required_votes
    from eval.statistics.counts import Unmeasured

    if any_time.decided_at is not None:
        since = f"after {any_time.decided_at:,} {unit}s, however often you looked: {any_time.preferred}"
        if any_time.lead_lost:
            return f"Decided {since} was preferred. Votes since have gone the other way: see why, before you tell."
        return f"Decided {since} is preferred."
    needed = required_votes(seen)
    if any_time.votes >= planned:
        return (
            f"Not decided, if you look as often as you like, and every {unit} has its vote for that: only more {unit}s "
            "would decide it. Who looks once, when all votes are in, has the interval of all votes."
        )
    if isinstance(needed, Unmeasured):
        return f"Not decided: {needed.why}."
    if not needed.more:
        return "Not decided yet, if you look as often as you like."
    votes = "1 more vote" if needed.more == 1 else f"{needed.more:,} more votes"
    return f"Not decided. If the rate stays as it is, some {votes} would show it to who looks once, when they are in."


def _position_note(votes: Sequence[Vote]) -> str:
    from eval.human.analysis.preference_rates import position_effect
    from eval.statistics.counts import Unmeasured

    found = position_effect(votes)
    if isinstance(found, Unmeasured):
        return ""
    share, low, high = found.first, 100 * found.interval.low, 100 * found.interval.high
    return (
        f"What stood first was preferred in {100 * share.rate:.0f}% of {share.trials:,} votes "
        f"({low:.0f} to {high:.0f}, {format_p_value(found.shown_p_value)} against one half)."
    )

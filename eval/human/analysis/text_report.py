"""Plain-text report of an analysis: one table for each part, or the reason why it is not measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from eval.human.analysis.preference_rates import Preference
from eval.statistics.counts import Unmeasured

if TYPE_CHECKING:
    from eval.human.analysis.analysis import VoteAnalysis
    from eval.human.analysis.belief_effect import BeliefEffect
    from eval.human.analysis.preference_rates import PreferenceGroup
    from eval.human.analysis.required_votes import RequiredVotes
    from eval.statistics.bradley_terry import SystemStrength
    from eval.statistics.confidence_sequence import SequentialLook
    from eval.statistics.odds_ratio import OddsRatio
    from eval.statistics.proportion import ProportionBounds


def format_analysis(analysis: VoteAnalysis) -> str:
    """Format all parts."""
    return "\n\n".join(part for part in _parts(analysis) if part)


def _parts(analysis: VoteAnalysis) -> Iterable[str]:
    yield _head(analysis)
    if not analysis.votes:
        return
    yield _rates("Preference", analysis.preferences, analysis.corrected)
    if analysis.flagged and not analysis.trusted:
        yield "Without flagged raters no votes are left."
    yield _rates("Without flagged raters", analysis.trusted, ())
    for name, groups in (("language", analysis.by_language), ("book", analysis.by_book), ("rater", analysis.by_rater)):
        yield _groups(name, groups)
    yield _position(analysis)
    yield _strengths(analysis)
    yield _rankings(analysis)
    yield _agreement(analysis)
    yield _raters(analysis)
    yield _belief(analysis.belief)
    yield _needed(analysis)
    yield _looks(analysis)


def _head(analysis: VoteAnalysis) -> str:
    if not analysis.votes:
        return "There are no votes on a pair of systems."
    votes, raters, items = (
        _plural(number, what)
        for number, what in ((analysis.votes, "vote"), (len(analysis.raters), "rater"), (analysis.items, "item"))
    )
    summary = f"{votes} by {raters} on {items}, {len(analysis.systems)} systems."
    if analysis.repeats or analysis.spam:
        repeats, spam = _plural(analysis.repeats, "repeat"), _plural(analysis.spam, "attention item")
        summary += f" Votes on {repeats} and {spam} check the raters and are not counted."
    if analysis.documents:
        summary += f" Votes are clustered by document: {_plural(analysis.documents, 'document')}."
    settings = f"[low, high]: 95%. Resamples: {analysis.samples:,}, seed {analysis.seed}."
    return f"{summary}\nTies are {analysis.ties} in rates. {settings}"


def _rates(title: str, rates: Sequence[Preference | Unmeasured], corrected: Sequence[float | None]) -> str:
    rows: list[Sequence[str]] = []
    reasons = []
    several = sum(value is not None for value in corrected) > 1
    clustered = any(isinstance(rate, Preference) and rate.itemwise for rate in rates)
    for at, rate in enumerate(rates):
        if isinstance(rate, Unmeasured):
            reasons.append(f"  not measured: {rate.why}")
            continue
        row = [f"{rate.system} over {rate.other}", *_rate(rate)]
        if several:
            row.append(format_p_number(corrected[at]))
        if clustered:
            row.append(format_p_number(rate.p_value))
        rows.append(row)
    if not rows and not reasons:
        return ""
    heads = ["", "votes", "won", "lost", "tied", "rate", "[low, high]", "interval", "p"]
    heads += ["p (Holm)"] * several + ["p (independent votes)"] * clustered
    return "\n".join([title, *_table(heads, rows), *reasons])


def _rate(rate: Preference) -> list[str]:
    counts = (rate.votes, rate.wins, rate.losses, rate.ties)
    bounds = rate.interval
    return [
        *(f"{count:,}" for count in counts),
        _share(rate.rate),
        format_bounds(bounds),
        bounds.method,
        format_p_number(rate.shown_p_value),
    ]


def _groups(name: str, groups: Sequence[PreferenceGroup]) -> str:
    if len({group.name for group in groups}) < 2:
        return ""
    rows = []
    for group in groups:
        found = group.preference
        labels = [group.name, " over ".join(group.pair)]
        if isinstance(found, Unmeasured):
            rows.append([*labels, found.why])
        else:
            won = f"{found.wins}/{found.wins + found.losses}"
            rows.append(
                [*labels, won, _share(found.rate), format_bounds(found.interval), format_p_number(group.corrected)]
            )
    return "\n".join([f"By {name}", *_table([name, "", "won", "rate", "[low, high]", "p (Holm)"], rows)])


def _position(analysis: VoteAnalysis) -> str:
    found = analysis.position
    if isinstance(found, Unmeasured):
        return f"Position bias: not measured: {found.why}"
    left_out = f" ({found.left_out:,} votes without both orders of display are left out)" if found.left_out else ""
    return (
        f"Position bias: the text shown first was preferred in {found.successes:,} of {found.trials:,} votes, "
        f"{_share(found.rate)}{left_out}; odds of winning when shown first, within pairs: {_odds(found.odds)}"
    )


def _strengths(analysis: VoteAnalysis) -> str:
    found = analysis.bradley_terry
    if isinstance(found, Unmeasured):
        return f"Strengths (Bradley-Terry): not measured: {found.why}"
    rows = [
        [
            one.system,
            f"{one.value:+.2f}",
            format_strength_interval(one),
            f"{one.best}" if one.best == one.worst else f"{one.best} to {one.worst}",
            f"{one.won:g}/{one.votes}",
        ]
        for one in found.strengths
    ]
    notes = []
    if found.regularised:
        notes.append(
            "  Regularised, because some system never won or never lost: half a win and half a loss are added for each "
            "system, and intervals come from a parametric bootstrap. … means no bound."
        )
    elif found.regularised_samples:
        notes.append(f"  {found.regularised_samples:,} of the resamples were regularised.")
    title = f"Strengths (Bradley-Terry, log odds; ties are {found.ties})"
    return "\n".join([title, *_table(["", "strength", "[low, high]", "rank", "won"], rows), *notes])


def _rankings(analysis: VoteAnalysis) -> str:
    found = analysis.rankings
    if len(analysis.systems) < 3:
        return ""
    if isinstance(found, Unmeasured):
        return f"Rankings: not measured: {found.why}"
    rows = [[one.system, *_interval(one.mean)] for one in found.systems]
    test = found.test
    summary = (
        f"  Kruskal-Wallis: not measured: {test.why}"
        if isinstance(test, Unmeasured)
        else f"  Kruskal-Wallis: H = {test.statistic:.2f}, {test.freedom} degrees of freedom, "
        f"p {format_p_number(test.p_value)}"
    )
    title = f"Mean ranks of {_plural(len(found.by_rater), 'rater')}"
    return "\n".join([title, *_table(["", "rank", "[low, high]"], rows), summary])


def _agreement(analysis: VoteAnalysis) -> str:
    found = analysis.agreement
    if isinstance(found, Unmeasured):
        return f"Inter-rater agreement: not measured: {found.why}"
    named = {
        "same answer": found.same,
        "Krippendorff's α": found.alpha,
        "α, ordinal": found.alpha_ordinal,
        "Fleiss' κ": found.fleiss,
        "Gwet's AC1": found.ac1,
    }
    rows = [[name, *_interval(value)] for name, value in named.items()]
    pairs = [
        [f"{one.first}, {one.second}", f"{one.items:,}", *_interval(one.kappa), *_interval(one.ac1)]
        for one in found.by_pair
    ]
    head = ["pair of raters", "items", "Cohen's κ", "[low, high]", "AC1", "[low, high]"]
    title = f"Inter-rater agreement of {found.raters} raters on {_plural(found.items, 'item')}"
    return "\n".join([title, *_table(["", "", "[low, high]"], rows), *_table(head, pairs)])


def _raters(analysis: VoteAnalysis) -> str:
    checks = analysis.rater_checks
    flagged = [f"  {rater.name}: {why}." for rater in checks for why in rater.flagged]
    notes = [f"  {rater.name}: {why}." for rater in checks for why in rater.notes]
    untested: dict[tuple[str, str], list[str]] = {}
    for rater in checks:
        for check, why in rater.untested.items():
            untested.setdefault((check, why), []).append(rater.name)
    return "\n".join(
        [
            *(["Flagged raters", *flagged] if flagged else ["No rater is flagged."]),
            *(["Not flagged, but notable", *notes] if notes else []),
            *(["Not tested"] if untested else []),
            *(f"  {check} of {', '.join(names)}: {why}." for (check, why), names in untested.items()),
        ]
    )


def _belief(found: BeliefEffect | Unmeasured) -> str:
    if isinstance(found, Unmeasured):
        return f"Belief: not measured: {found.why}"
    share = found.preferred
    lines = [
        f"Belief: the text believed human was preferred in {share.successes:,} of {share.trials:,} votes, "
        f"{_share(share.rate)} {format_bounds(found.interval)}, p {format_p_number(found.shown_p_value)}",
        f"  odds within pairs of systems: {_odds(found.within_pairs)}",
        f"  odds within items: {_odds(found.within_items)}",
    ]
    if not isinstance(found.right, Unmeasured):
        right = found.right
        bounds = found.right_whole.bounds if found.right_whole else right.wilson
        lines.append(f"  belief correct in {right.successes:,} of {right.trials:,}, {format_bounds(bounds)}")
    return "\n".join(lines)


def _needed(analysis: VoteAnalysis) -> str:
    rows = [_needed_row(*pair) for pair in zip(analysis.preferences, analysis.needed, strict=True)]
    head = ["", "votes", "missing", "if nearest to even", "if farthest"]
    title = "Votes needed for 80% power at 5%, at the observed rates"
    if any(not isinstance(one, Unmeasured) and one.worth < 1 for one in analysis.needed):
        title += f", clustered by {'document' if analysis.documents else 'item'}"
    return "\n".join([title, *_table(head, rows)])


def _needed_row(rate: Preference | Unmeasured, needed: RequiredVotes | Unmeasured) -> list[str]:
    name = "" if isinstance(rate, Unmeasured) else f"{rate.system} over {rate.other}"
    if isinstance(needed, Unmeasured):
        return [name, needed.why]
    ends = ("no number" if one is None else f"{one:,}" for one in (needed.at_low, needed.at_high))
    return [name, f"{needed.votes:,}", f"{needed.more:,}", *ends]


def _looks(analysis: VoteAnalysis) -> str:
    rows = [_look_row(one) for one in analysis.looks]
    head = ["", "rate", "[low, high]", "p", "an even chance is"]
    first = "document" if analysis.documents else "item"
    several = f"; family-wise over {len(rows)} pairs, by Bonferroni" if len(rows) > 1 else ""
    title = f"Sequential looks, valid at any time (confidence sequence, first vote on each {first}{several})"
    reversals = [
        f"  {one.system} and {one.other}: since vote {one.decided_at:,} the lead has been lost again."
        for one in analysis.looks
        if not isinstance(one, Unmeasured) and one.lead_lost
    ]
    return "\n".join([title, *_table(head, rows), *reversals])


def _look_row(look: SequentialLook | Unmeasured) -> list[str]:
    if isinstance(look, Unmeasured):
        return ["", look.why]
    since = f"ruled out since vote {look.decided_at}, for {look.preferred}"
    return [
        f"{look.system} over {look.other}",
        _share(look.rate),
        format_bounds(look.bounds),
        format_p_number(look.p_value),
        since if look.decided_at else "not ruled out yet",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns; the last cell of a row shorter than the head does not widen its column."""
    if not rows:
        return []
    every = [head, *rows]
    widths = [
        max((len(row[at]) for row in every if at < len(row) - (len(row) < len(head))), default=0)
        for at in range(len(head))
    ]
    return ["  " + "  ".join(_pad(row, widths)).rstrip() for row in every]


def _pad(row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    for at, (cell, width) in enumerate(zip(row, widths, strict=False)):
        yield cell.rjust(width) if at and cell[:1] in "0123456789+-[<." else cell.ljust(width)


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def format_bounds(bounds: ProportionBounds) -> str:
    """Format an interval in percent."""
    return f"[{100 * bounds.low:.1f}, {100 * bounds.high:.1f}]"


def format_strength_interval(one: SystemStrength) -> str:
    """Format the interval of a strength; … stands for no bound."""
    low, high = ("…" if end is None else f"{end:+.2f}" for end in (one.low, one.high))
    return f"[{low}, {high}]"


def format_p_number(value: float | None) -> str:
    """Format a p-value; empty for None."""
    if value is None:
        return ""
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"


def _interval(found: Any) -> tuple[str, str]:
    if isinstance(found, Unmeasured):
        return "n/a", f"({found.why})"
    if found.low == found.high:
        return f"{found.value:.3f}", "(the same in all resamples)"
    return f"{found.value:.3f}", f"[{found.low:.3f}, {found.high:.3f}]"


def _odds(found: OddsRatio | Unmeasured) -> str:
    if isinstance(found, Unmeasured):
        return f"not measured: {found.why}"
    value = "all on one side" if found.value is None else f"{found.value:.2f}"
    high = "…" if found.high is None else f"{found.high:.2f}"
    return f"{value} [{found.low:.2f}, {high}], p {format_p_number(found.p_value)}"


def _plural(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"

"""HTML page of a vote analysis, without scripts and external files; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ape.reports.base_page import Page
from ape.reports.number_format import format_p_value
from ape.reports.plot_geometry import IntervalLine, Scale
from eval.human.analysis.analysis import VoteAnalysis, format_analysis
from eval.human.analysis.preference_rates import Preference, PreferenceGroup
from eval.human.analysis.span_analysis import SpanAnalysis, format_spans
from eval.human.analysis.text_report import format_strength_interval
from eval.report.page import SIGNIFICANCE_LEVEL
from eval.statistics.bradley_terry import BradleyTerry
from eval.statistics.counts import Unmeasured

_PAGE = Page("eval.human.report", "eval.report", styles=["scores.css", "votes.css"])
_SHARES = Scale.with_margin(0, 1)
_SCORES = Scale.with_margin(0, 100)


@dataclass(frozen=True, slots=True)
class VoteIntervalLine:
    """A value with its interval, as a line of a plot."""

    label: str
    line: IntervalLine
    number: str
    label_text: str = ""
    clear: bool = False


def write_analysis_page(analysis: VoteAnalysis, path: Path, *, title: str = "Votes") -> None:
    """Write the page to `path`, replacing an existing file only once it is complete."""
    _PAGE.write(
        path,
        "report.html",
        title=title,
        facts=_facts(analysis),
        rates=list(_rates(analysis.preferences, analysis.corrected)),
        all_flagged=bool(analysis.flagged and analysis.preferences and not analysis.trusted),
        trusted=list(_rates(analysis.trusted, [None] * len(analysis.trusted))),
        unmeasured=[one.why for one in analysis.preferences if isinstance(one, Unmeasured)],
        strengths=_strengths(analysis.bradley_terry) if len(analysis.systems) > 2 else [],
        groups={name: lines for name, lines in _groups(analysis) if lines},
        raters=analysis.rater_checks,
        span_scores=list(_span_scores(analysis.spans)),
        report=_full_report(analysis),
    )


def _facts(analysis: VoteAnalysis) -> Mapping[str, str]:
    return {
        "Systems": ", ".join(analysis.systems),
        "Votes": f"{analysis.votes:,} on {analysis.items:,} items by {len(analysis.raters):,} raters"
        + (f", clustered by {analysis.documents:,} documents" if analysis.documents else ""),
        "Rater checks": f"{analysis.repeats:,} repeats, {analysis.spam:,} attention items; not counted in rates",
        "Ties": f"{analysis.ties} in rates",
        "Intervals": f"95%; bootstrap with {analysis.samples:,} resamples, seed {analysis.seed}",
    }


def _rates(rates: Sequence[Preference | Unmeasured], corrected: Sequence[float | None]) -> Iterator[VoteIntervalLine]:
    """One line for each pair: the share of votes for the first system."""
    for rate, holm in zip(rates, corrected, strict=True):
        if isinstance(rate, Unmeasured):
            continue
        p = rate.shown_p_value if holm is None else holm
        yield _share(
            f"{rate.system} over {rate.other}",
            rate,
            f"{_score(rate)}, {format_p_value(p)}",
            clear=p < SIGNIFICANCE_LEVEL,
        )


def _share(label: str, rate: Preference, label_text: str, *, clear: bool = False) -> VoteIntervalLine:
    low, high = rate.interval.low, rate.interval.high
    number = f"{100 * rate.rate:.1f}% [{100 * low:.1f}, {100 * high:.1f}]"
    return VoteIntervalLine(label, _SHARES.interval(rate.rate, low, high), number, label_text, clear)


def _score(rate: Preference) -> str:
    return f"{rate.wins:,} won, {rate.losses:,} lost, {rate.ties:,} tied"


def _groups(analysis: VoteAnalysis) -> Iterator[tuple[str, list[VoteIntervalLine]]]:
    """Lines by language, book and rater, where there are at least two."""
    for name, groups in (("language", analysis.by_language), ("book", analysis.by_book), ("rater", analysis.by_rater)):
        several = len({group.name for group in groups}) > 1
        yield name, [_group(one) for one in groups if several and isinstance(one.preference, Preference)]


def _group(group: PreferenceGroup) -> VoteIntervalLine:
    rate = group.preference
    assert isinstance(rate, Preference)
    words = f"{rate.system} over {rate.other}: {_score(rate)}"
    p = rate.shown_p_value if group.corrected is None else group.corrected
    return _share(group.name, rate, f"{words}, {format_p_value(p)}", clear=p < SIGNIFICANCE_LEVEL)


def _span_scores(spans: SpanAnalysis | None) -> Iterator[VoteIntervalLine]:
    """One line for each system: its mean score, with its MQM points."""
    for one in spans.systems if spans else ():
        if isinstance(one.score, Unmeasured) or isinstance(one.points, Unmeasured):
            continue
        line = _SCORES.interval(one.score.value, one.score.low, one.score.high)
        number = f"{one.score.value:.1f} [{one.score.low:.1f}, {one.score.high:.1f}]"
        yield VoteIntervalLine(one.system, line, number, f"{one.points.value:.2f} MQM points a text")


def _full_report(analysis: VoteAnalysis) -> str:
    parts = [format_analysis(analysis), *([format_spans(analysis.spans)] if analysis.spans else [])]
    return "\n\n".join(parts)


def _strengths(found: BradleyTerry | Unmeasured) -> list[VoteIntervalLine]:
    if isinstance(found, Unmeasured):
        return []
    known = [end for one in found.strengths for end in (one.low, one.value, one.high) if end is not None]
    scale = Scale.with_margin(min(known), max(known))
    return [
        VoteIntervalLine(
            one.system,
            scale.interval(one.value, one.low, one.high),
            f"{one.value:+.2f} {format_strength_interval(one)}",
            f"rank {one.best}" if one.best == one.worst else f"rank {one.best} to {one.worst}",
        )
        for one in found.strengths
    ]

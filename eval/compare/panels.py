"""Panels of the comparison page: a summary of each system, and win matrices by metric, judge and votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from eval.compare.comparison import SystemComparison
from eval.compare.comparison_set import DO_NOTHING
from eval.compare.plots import ChapterGainPlot, GainPlot, SystemGain, chapter_gain_plot, gain_plot
from eval.compare.system import System
from eval.compare.wins import PairwiseTest, SystemWins, WinMatrix, add_mirrored_wins, independence_label
from eval.metrics.metric import Metric
from eval.report.page import SIGNIFICANCE_LEVEL
from eval.statistics.paired_tests import PairedComparison


@dataclass(frozen=True, slots=True)
class ComparisonPanel:
    """Win matrix by a metric, a judge or votes."""

    name: str
    title: str
    note: str
    matrix: WinMatrix
    tests: Mapping[tuple[str, str], PairwiseTest]
    gain_plot: GainPlot | None = None
    chapter_plot: ChapterGainPlot | None = None
    higher_is_better: bool = True

    def names(self, systems: Sequence[str]) -> list[str]:
        """All systems of the matrix, including the human translation if raters saw it."""
        return list(dict.fromkeys([*systems, *(name for pair in self.matrix.wins for name in pair)]))


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """A system against the unchanged MT by the leading metric.

    `verdict` is "better", "worse", "unclear", "same" or "unknown".
    """

    system: str
    verdict: str
    comparison: PairedComparison | None
    corrected: float | None
    rate: float
    changed: int
    paragraphs: int


@dataclass(frozen=True, slots=True)
class SystemOutcomes:
    """Decisions of a system with their shares, and paragraphs by guard."""

    system: System
    rate: float
    changed: int
    decisions: tuple[tuple[str, int, float], ...]
    findings: Mapping[str, Mapping[str, int]]


def summarise_systems(compared: SystemComparison) -> list[SystemSummary]:
    """Summarise each system."""
    same = {name for names in compared.identical_groups if DO_NOTHING in names for name in names}
    summaries = []
    for system in compared.systems[1:]:
        standing = compared.results.standings.get(compared.leading, {}).get(system.name)
        comparison = standing.comparison if standing else None
        known = comparison if isinstance(comparison, PairedComparison) else None
        corrected = standing.corrected if standing else None
        rates = compared.rates[system.name]
        verdict = "same" if system.name in same else _verdict(known, corrected)
        changed = sum(rate > 0 for rate in rates)
        summaries.append(SystemSummary(system.name, verdict, known, corrected, fmean(rates), changed, len(rates)))
    return summaries


def _verdict(comparison: PairedComparison | None, corrected: float | None) -> str:
    if comparison is None or corrected is None:
        return "unknown"
    if corrected >= SIGNIFICANCE_LEVEL or comparison.better is None:
        return "unclear"
    return "better" if comparison.better else "worse"


def count_outcomes(compared: SystemComparison) -> list[SystemOutcomes]:
    """Count the outcomes of every system."""
    counts = []
    for system in compared.systems:
        rates, total = compared.rates[system.name], len(system.outcomes)
        decisions = tuple((name, count, count / total) for name, count in sorted(system.decisions.items()))
        changed = sum(rate > 0 for rate in rates)
        counts.append(SystemOutcomes(system, fmean(rates), changed, decisions, system.findings()))
    return counts


def comparison_panels(compared: SystemComparison) -> list[ComparisonPanel]:
    """Panels: the leading metric first, then other metrics, judge and votes."""
    metrics = sorted(compared.results.metrics, key=lambda metric: metric.name != compared.leading)
    by_metric = [_metric_panel(compared, metric) for metric in metrics if metric.name in compared.matrices]
    return [*by_metric, *_opinion_panels(compared)]


def _metric_panel(compared: SystemComparison, metric: Metric) -> ComparisonPanel:
    tests = {(test.first, test.second): test for test in compared.pairs[metric.name]}
    return ComparisonPanel(
        metric.name,
        metric.name,
        f"{'higher' if metric.higher_is_better else 'lower'} is better",
        compared.matrices[metric.name],
        tests,
        gain_plot(list(_gains(compared, metric))),
        chapter_gain_plot(_chapters(compared, metric)),
        metric.higher_is_better,
    )


def _gains(compared: SystemComparison, metric: Metric) -> Iterator[SystemGain]:
    """Gains over the MT; positive is better, whatever the direction of the metric."""
    sign = 1 if metric.higher_is_better else -1
    yield SystemGain(DO_NOTHING, 0.0, 0.0, 0.0, 0.0)
    for name in compared.names[1:]:
        standing = compared.results.standings[metric.name].get(name)
        found = standing.comparison if standing else None
        if isinstance(found, PairedComparison):
            low, high = sorted((sign * found.low, sign * found.high))
            yield SystemGain(name, fmean(compared.rates[name]), sign * found.difference, low, high)


def _chapters(compared: SystemComparison, metric: Metric) -> dict[str, dict[str, float | None]]:
    """Gain over the MT by system and document."""
    sign = 1 if metric.higher_is_better else -1
    by_system: dict[str, dict[str, float | None]] = {name: {} for name in compared.names[1:]}
    for document, scores in compared.results.by_document()[metric.name].items():
        baseline = scores[DO_NOTHING]
        for name, gains in by_system.items():
            score = scores[name]
            gains[document] = None if score is None or baseline is None else sign * (score - baseline)
    return by_system


def _opinion_panels(compared: SystemComparison) -> Iterator[ComparisonPanel]:
    if judged := compared.judged:
        yield ComparisonPanel(
            "judge", f"judge: {judged['given']}", judged["signature"], _judge_wins(judged["systems"]), {}
        )
    if voted := compared.voted:
        votes, raters = _count(voted["votes"], "vote"), _count(len(voted["raters"]), "rater")
        note = f"{votes} by {raters} on {_count(voted['items'], 'item')}"
        yield ComparisonPanel("votes", "human votes", note, _vote_wins(voted["preferences"]), {})


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _vote_wins(preferences: Iterable[Mapping[str, Any]]) -> WinMatrix:
    """Wins by votes, with the clustered intervals of the analysis."""
    known = [one for one in preferences if "wins" in one]
    wins = {
        (one["system"], one["other"]): SystemWins(
            one["wins"], one["losses"], one["ties"], (one["interval"]["low"], one["interval"]["high"])
        )
        for one in known
    }
    intervals = " or ".join(dict.fromkeys(one["interval"]["method"] for one in known))
    return WinMatrix("vote", add_mirrored_wins(wins), intervals)


def _judge_wins(tallies: Iterable[Mapping[str, Any]]) -> WinMatrix:
    """Wins by a judge's verdicts, with the number of missing verdicts."""
    wins = {}
    for tally in tallies:
        (first, second), (won, lost) = tally["systems"], tally["wins"]
        unscored = sum(tally["unscored"].values())
        wins[first, second] = SystemWins(won, lost, tally["ties"], unscored=unscored)
    return WinMatrix("paragraph", add_mirrored_wins(wins), independence_label("pair"))

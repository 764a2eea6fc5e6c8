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
    """A system against doing nothing by the leading metric; `verdict` is "better", "worse", "unclear" or "same"."""

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
    found = []
    for system in compared.systems[1:]:
        standing = compared.results.standings.get(compared.leading, {}).get(system.name)
        comparison = standing.comparison if standing else None
        known = comparison if isinstance(comparison, PairedComparison) else None
        corrected = standing.corrected if standing else None
        rates = compared.rates[system.name]
        verdict = "same" if system.name in same else _verdict(known, corrected)
        changed = sum(rate > 0 for rate in rates)
        found.append(SystemSummary(system.name, verdict, known, corrected, fmean(rates), changed, len(rates)))
    return found


def _verdict(comparison: PairedComparison | None, corrected: float | None) -> str:
    if comparison is None or corrected is None:
        return "unknown"
    if corrected >= SIGNIFICANCE_LEVEL or comparison.better is None:
        return "unclear"
    return "better" if comparison.better else "worse"


def count_outcomes(compared: SystemComparison) -> list[SystemOutcomes]:
    """Count the outcomes of every system."""
    found = []
    for system in compared.systems:
        rates, total = compared.rates[system.name], len(system.outcomes)
        decisions = tuple((what, count, count / total) for what, count in sorted(system.decisions.items()))
        changed = sum(rate > 0 for rate in rates)
        found.append(SystemOutcomes(system, fmean(rates), changed, decisions, system.findings()))
    return found


def comparison_panels(compared: SystemComparison) -> list[ComparisonPanel]:
    """Panels: the leading metric first, then other metrics, judge and votes."""
    metrics = sorted(compared.results.metrics, key=lambda metric: metric.name != compared.leading)
    found = [_panel(compared, metric) for metric in metrics if metric.name in compared.matrices]
    return [*found, *_opinions(compared)]


def _panel(compared: SystemComparison, metric: Metric) -> ComparisonPanel:
    tests = {(one.first, one.second): one for one in compared.pairs[metric.name]}
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
    told: dict[str, dict[str, float | None]] = {name: {} for name in compared.names[1:]}
    for document, scores in compared.results.by_document()[metric.name].items():
        ground = scores[DO_NOTHING]
        for name, found in told.items():
            score = scores[name]
            found[document] = None if score is None or ground is None else sign * (score - ground)
    return told


def _opinions(compared: SystemComparison) -> Iterator[ComparisonPanel]:
    if judged := compared.judged:
        yield ComparisonPanel(
            "judge", f"judge: {judged['given']}", judged["signature"], _tallied(judged["systems"]), {}
        )
    if voted := compared.voted:
        votes, raters = _many(voted["votes"], "vote"), _many(len(voted["raters"]), "rater")
        note = f"{votes} of {raters} on {_many(voted['items'], 'item')}"
        yield ComparisonPanel("votes", "votes of people", note, _voted(voted["preferences"]), {})


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _voted(preferences: Iterable[Mapping[str, Any]]) -> WinMatrix:
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


def _tallied(tallies: Iterable[Mapping[str, Any]]) -> WinMatrix:
    """Wins by a judge's verdicts, with the number of missing verdicts."""
    wins = {}
    for one in tallies:
        (first, second), (won, lost) = one["systems"], one["wins"]
        silent = sum(one["unscored"].values())
        wins[first, second] = SystemWins(won, lost, one["ties"], unscored=silent)
    return WinMatrix("paragraph", add_mirrored_wins(wins), independence_label("pair"))

"""Report section of one metric: scores, plots by category, and influential passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, TypeAlias

from eval.corpus.corpus import Document
from eval.metrics.metric import Mark, Metric, corpus_for_metric
from eval.metrics.scoring import EvaluationResults
from eval.report.inconsistent_names import SystemInconsistentNames, inconsistent_names_by_system
from eval.report.lost_connectives import LostConnectives, lost_connectives
from eval.report.plots import ScoreInterval, ScorePlot, score_plot
from eval.report.score_influence import RowInfluence, most_influential_rows
from eval.report.text_marks import ReportPiece, difference_marks, metric_marks, split_at_marks
from eval.statistics.counts import MetricCounts, Unmeasured
from eval.statistics.multiple_comparisons import SystemSignificance
from eval.statistics.paired_tests import ConfidenceInterval, PairedComparison, part_intervals
from eval.statistics.rank_tests import WilcoxonResult

TextSide: TypeAlias = Literal["source", "reference", "output", "baseline"]

# Number of passages per system that raised its score most, and that lowered it most.
MOST_PASSAGES = 3
# Number of segments shown of a whole document: those with most marks.
_SEGMENTS = 3


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A system's score, or why it has none."""

    system: str
    value: float | None
    why: str = ""
    interval: ConfidenceInterval | None = None
    comparison: PairedComparison | None = None
    corrected: float | None = None
    ranks: WilcoxonResult | None = None
    ranks_corrected: float | None = None


@dataclass(frozen=True, slots=True)
class MissingReason:
    """A missing score with its reason and systems; no systems means all."""

    what: str
    why: str
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportText:
    """A text of a passage, split at its marks."""

    side: TextSide
    name: str
    pieces: tuple[ReportPiece, ...]


@dataclass(frozen=True, slots=True)
class InfluentialPassage:
    """An influential passage: position, influence and texts."""

    place: str
    by: float
    texts: tuple[ReportText, ...]


@dataclass(frozen=True, slots=True)
class SystemInfluences:
    """Passages that raised and lowered a system's score."""

    system: str
    up: tuple[InfluentialPassage, ...]
    down: tuple[InfluentialPassage, ...]


@dataclass(frozen=True, slots=True)
class MetricSection:
    """Content of the section."""

    name: str
    higher_is_better: bool
    signature: str
    cells: tuple[ScoreCell, ...]
    plot: ScorePlot | None
    categories: tuple[ScorePlot, ...]
    moves: tuple[SystemInfluences, ...]
    names: tuple[SystemInconsistentNames, ...] = ()
    reasons: tuple[MissingReason, ...] = ()
    lost: tuple[LostConnectives, ...] = ()


def metric_section(results: EvaluationResults, metric: Metric) -> MetricSection:
    """Build the section of a metric."""
    cells = tuple(score_cell(results, metric.name, system) for system in results.corpus.systems)
    baseline = results.resampling.baseline
    return MetricSection(
        metric.name,
        metric.higher_is_better,
        results.signatures().get(metric.name, ""),
        cells,
        score_plot(metric.name, {cell.system: _span(cell.value, cell.interval) for cell in cells}, baseline=baseline),
        tuple(_categories(results, metric.name)),
        tuple(_moves(results, metric, system) for system in results.corpus.systems if system != baseline),
        tuple(inconsistent_names_by_system(results, metric)),
        tuple(_reasons(results, metric.name)),
        tuple(lost_connectives(results, metric)),
    )


def _reasons(results: EvaluationResults, metric: str) -> Iterator[MissingReason]:
    """Merge equal reasons."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for system in results.corpus.systems:
        score = results.score(metric, system)
        standing = results.standings[metric].get(system)
        if isinstance(score, Unmeasured):
            reasons.setdefault(("is not applicable", score.why), []).append(system)
        elif standing and isinstance(standing.interval, Unmeasured):
            reasons.setdefault(("has no interval and no test", standing.interval.why), []).append(system)
    for (what, why), systems in reasons.items():
        yield MissingReason(what, why, () if len(systems) == len(results.corpus.systems) else tuple(systems))


def score_cell(results: EvaluationResults, metric: str, system: str) -> ScoreCell:
    """Table cell of a system and metric."""
    score = results.score(metric, system)
    if isinstance(score, Unmeasured):
        return ScoreCell(system, None, score.why)
    standing = results.standings[metric].get(system) or SystemSignificance(Unmeasured(""))
    return ScoreCell(
        system,
        score.value,
        interval=standing.interval if isinstance(standing.interval, ConfidenceInterval) else None,
        comparison=standing.comparison if isinstance(standing.comparison, PairedComparison) else None,
        corrected=standing.corrected,
        ranks=standing.ranks if isinstance(standing.ranks, WilcoxonResult) else None,
        ranks_corrected=standing.ranks_corrected,
    )


def _categories(results: EvaluationResults, metric: str) -> Iterator[ScorePlot]:
    how = results.resampling
    spans: dict[str, dict[str, ScoreInterval | None]] = {}
    for system, counts in results.counted[metric].items():
        if not isinstance(counts, MetricCounts) or not counts.parts:
            continue
        intervals = part_intervals(counts, by=how.by, samples=how.samples, seed=how.seed)
        for name, fold in counts.parts.items():
            value = float(fold(counts.rows.sum(axis=0)))
            spans.setdefault(name, {})[system] = _span(value, intervals[name])
    for name, systems in spans.items():
        if plot := score_plot(name, systems, baseline=how.baseline):
            yield plot


def _span(value: float | None, interval: ConfidenceInterval | Unmeasured | None) -> ScoreInterval | None:
    if value is None or isnan(value):
        return None
    ends = (interval.low, interval.high) if isinstance(interval, ConfidenceInterval) else (value, value)
    return ScoreInterval(value, *ends)


def _moves(results: EvaluationResults, metric: Metric, system: str) -> SystemInfluences:
    counted = results.counted[metric.name][system]
    if isinstance(counted, Unmeasured):
        return SystemInfluences(system, (), ())
    found = results.counted[metric.name].get(results.resampling.baseline)
    baseline = found if isinstance(found, MetricCounts) else None
    raised, lowered = (
        most_influential_rows(results.corpus, counted, baseline, most=MOST_PASSAGES, up=up) for up in (True, False)
    )
    if not raised and not lowered:
        return SystemInfluences(system, (), ())
    passages = _MarkedPassages(results, metric, system)
    return SystemInfluences(system, tuple(map(passages.passage, raised)), tuple(map(passages.passage, lowered)))


class _MarkedPassages:
    """Passages of a system and of the baseline, with the words that the metric marks."""

    def __init__(self, results: EvaluationResults, metric: Metric, system: str) -> None:
        self._corpus = corpus_for_metric(metric, results.corpus)
        self._system, self._baseline = system, results.resampling.baseline
        self._marks = {name: metric_marks(metric, self._corpus, name) for name in (system, self._baseline) if name}

    def passage(self, row: RowInfluence) -> InfluentialPassage:
        document = self._corpus.documents[row.document]
        if row.segment is not None:
            texts = tuple(self._texts(document, row.segment))
            return InfluentialPassage(f"{document.id}, segment {row.segment + 1:,}", row.by, texts)
        segments = self._most_marked(document.id)
        texts = tuple(text for segment in segments for text in self._texts(document, segment))
        return InfluentialPassage(document.id, row.by, texts)

    def _most_marked(self, document: str) -> list[int]:
        counts: dict[int, int] = {}
        for (name, segment, _), marks in (self._marks[self._system] or {}).items():
            if name == document:
                counts[segment] = counts.get(segment, 0) + len(marks)
        return sorted(sorted(counts, key=lambda segment: -counts[segment])[:_SEGMENTS])

    def _texts(self, document: Document, segment: int) -> Iterator[ReportText]:
        references = document.references_of(segment)
        systems = [name for name in (self._baseline, self._system) if name]
        if len({document.outputs[name][segment] for name in systems}) == 1:
            systems = [self._system]
        marks = {name: self._segment_marks(name, document, segment) for name in systems}
        if document.sources:
            source_marks = marks[self._system]["source"]
            yield ReportText("source", "source", tuple(split_at_marks(document.sources[segment], source_marks)))
        for place, reference in enumerate(references):
            name = f"reference {place + 1}" if len(references) > 1 else "reference"
            # Words that the system lost or, if none, that the baseline lost.
            lost = next((marks[name]["reference"] for name in reversed(systems) if marks[name]["reference"]), ())
            yield ReportText("reference", name, tuple(split_at_marks(reference, () if place else lost)))
        for name in systems:
            side: TextSide = "output" if name == self._system else "baseline"
            yield ReportText(side, name, tuple(split_at_marks(document.outputs[name][segment], marks[name]["output"])))

    def _segment_marks(self, system: str, document: Document, segment: int) -> dict[str, Sequence[Mark]]:
        """Marks by side; for metrics without marks, where output and reference differ."""
        marks, references = self._marks[system], document.references_of(segment)
        if marks is None and references:
            output = document.outputs[system][segment]
            ours, theirs = difference_marks(output, references[0], self._corpus.target_language)
            return {"source": (), "reference": theirs, "output": ours}
        sides = ("source", "reference", "output")
        return {side: (marks or {}).get((document.id, segment, side), ()) for side in sides}

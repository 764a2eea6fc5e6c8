"""What the report says of one metric: every system's score, the plots of it and its categories, and the passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, TypeAlias

from eval.corpus import Document
from eval.metric import Counted, Mark, Metric, Unmeasured
from eval.report.lost import Lost, lost
from eval.report.marked import Piece, differences, marks_of, pieces
from eval.report.moved import Moved, moved_most
from eval.report.names import Names, names
from eval.report.plots import Plot, Span, plot
from eval.scoring import Results
from eval.significance import Comparison, Interval, SignedRanks, Standing, part_intervals
from eval.zero_pronouns import seen_by

Side: TypeAlias = Literal["source", "reference", "output", "baseline"]

# Passages shown of each system that raised its score most, and as many that lowered it.
MOST = 3
# Of a whole document, the segments with most marks.
_SEGMENTS = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """A system's score, or why it has none."""

    system: str
    value: float | None
    why: str = ""
    interval: Interval | None = None
    comparison: Comparison | None = None
    corrected: float | None = None
    ranks: SignedRanks | None = None
    ranks_corrected: float | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """What a metric has not, why, and for which systems; none are named where it is all of them."""

    what: str
    why: str
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """One of the texts of a passage, cut at its marks."""

    side: Side
    name: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that moved a score: where it is, by how much, and its texts."""

    place: str
    by: float
    texts: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """What moved one system's score, up and down."""

    system: str
    up: tuple[Passage, ...]
    down: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One metric."""

    name: str
    higher_is_better: bool
    signature: str
    cells: tuple[Cell, ...]
    plot: Plot | None
    categories: tuple[Plot, ...]
    moves: tuple[Moves, ...]
    names: tuple[Names, ...] = ()
    reasons: tuple[Reason, ...] = ()
    lost: tuple[Lost, ...] = ()


def section(results: Results, metric: Metric) -> Section:
    """All of one metric."""
    cells = tuple(cell_of(results, metric.name, system) for system in results.corpus.systems)
    baseline = results.resampling.baseline
    return Section(
        metric.name,
        metric.higher_is_better,
        results.signatures().get(metric.name, ""),
        cells,
        plot(metric.name, {cell.system: _span(cell) for cell in cells}, baseline=baseline),
        tuple(_categories(results, metric.name)),
        tuple(_moves(results, metric, system) for system in results.corpus.systems if system != baseline),
        tuple(names(results, metric)),
        tuple(_reasons(results, metric.name)),
        tuple(lost(results, metric)),
    )


def _reasons(results: Results, metric: str) -> Iterator[Reason]:
    """Each reason once, with all whom it holds for."""
    told: dict[tuple[str, str], list[str]] = {}
    for system in results.corpus.systems:
        score = results.score(metric, system)
        standing = results.standings[metric].get(system)
        if isinstance(score, Unmeasured):
            told.setdefault(("is not applicable", score.why), []).append(system)
        elif standing and isinstance(standing.interval, Unmeasured):
            told.setdefault(("has no interval and no test", standing.interval.why), []).append(system)
    for (what, why), systems in told.items():
        yield Reason(what, why, () if len(systems) == len(results.corpus.systems) else tuple(systems))


def cell_of(results: Results, metric: str, system: str) -> Cell:
    """What the table says of a system by a metric."""
    score = results.score(metric, system)
    if isinstance(score, Unmeasured):
        return Cell(system, None, score.why)
    standing = results.standings[metric].get(system) or Standing(Unmeasured(""))
    return Cell(
        system,
        score.value,
        interval=standing.interval if isinstance(standing.interval, Interval) else None,
        comparison=standing.comparison if isinstance(standing.comparison, Comparison) else None,
        corrected=standing.corrected,
        ranks=standing.ranks if isinstance(standing.ranks, SignedRanks) else None,
        ranks_corrected=standing.ranks_corrected,
    )


def _span(cell: Cell) -> Span | None:
    if cell.value is None:
        return None
    ends = (cell.interval.low, cell.interval.high) if cell.interval else (cell.value, cell.value)
    return Span(cell.value, *ends)


def _categories(results: Results, metric: str) -> Iterator[Plot]:
    how = results.resampling
    spans: dict[str, dict[str, Span | None]] = {}
    for system, one in results.counted[metric].items():
        if not isinstance(one, Counted) or not one.parts:
            continue
        found = part_intervals(one, by=how.by, samples=how.samples, seed=how.seed)
        for name, fold in one.parts.items():
            value = float(fold(one.rows.sum(axis=0)))
            spans.setdefault(name, {})[system] = _part(value, found[name])
    for name, systems in spans.items():
        if drawn := plot(name, systems, baseline=how.baseline):
            yield drawn


def _part(value: float, found: Interval | Unmeasured) -> Span | None:
    if isnan(value):
        return None
    return Span(value, found.low, found.high) if isinstance(found, Interval) else Span(value, value, value)


# --- passages ------------------------------------------------------------------------------------------------------


def _moves(results: Results, metric: Metric, system: str) -> Moves:
    counted = results.counted[metric.name][system]
    if isinstance(counted, Unmeasured):
        return Moves(system, (), ())
    ground = results.counted[metric.name].get(results.resampling.baseline)
    baseline = ground if isinstance(ground, Counted) else None
    raised, lowered = (
        moved_most(results.corpus, counted, baseline, most=MOST, up=up) for up in (True, False)
    )
    shown = _Shown(results, metric, system) if raised or lowered else None
    return Moves(
        system,
        tuple(shown.passage(one) for one in raised if shown),
        tuple(shown.passage(one) for one in lowered if shown),
    )


class _Shown:
    """The passages of one system with what a metric marks in them, and in the baseline's text beside."""

    def __init__(self, results: Results, metric: Metric, system: str) -> None:
        self._corpus = seen_by(metric, results.corpus)
        self._system, self._baseline = system, results.resampling.baseline
        self._marks = {
            name: marks_of(metric, self._corpus, name) for name in (system, self._baseline) if name
        }

    def passage(self, moved: Moved) -> Passage:
        document = self._corpus.documents[moved.document]
        if moved.segment is not None:
            texts = tuple(self._texts(document, moved.segment))
            return Passage(f"{document.id}, segment {moved.segment + 1:,}", moved.by, texts)
        found = self._most_marked(document.id)
        texts = tuple(text for segment in found for text in self._texts(document, segment))
        return Passage(document.id, moved.by, texts)

    def _most_marked(self, document: str) -> list[int]:
        counts: dict[int, int] = {}
        for (where, segment, _), found in (self._marks[self._system] or {}).items():
            if where == document:
                counts[segment] = counts.get(segment, 0) + len(found)
        return sorted(sorted(counts, key=lambda segment: -counts[segment])[:_SEGMENTS])

    def _texts(self, document: Document, segment: int) -> Iterator[Text]:
        references = document.references_of(segment)
        shown = [name for name in (self._baseline, self._system) if name]
        if len({document.outputs[name][segment] for name in shown}) == 1:
            shown = [self._system]
        marks = {name: self._marked(name, document, segment) for name in shown}
        if document.sources:
            there = marks[self._system]["source"]
            yield Text("source", "source", tuple(pieces(document.sources[segment], there)))
        for place, reference in enumerate(references):
            name = f"reference {place + 1}" if len(references) > 1 else "reference"
            # Where this system lost nothing, what the baseline lost.
            lost = next(
                (marks[name]["reference"] for name in reversed(shown) if marks[name]["reference"]), ()
            )
            yield Text("reference", name, tuple(pieces(reference, () if place else lost)))
        for name in shown:
            side: Side = "output" if name == self._system else "baseline"
            yield Text(side, name, tuple(pieces(document.outputs[name][segment], marks[name]["output"])))

    def _marked(self, system: str, document: Document, segment: int) -> dict[str, Sequence[Mark]]:
        """The marks by side; of a metric that makes none, where output and reference differ."""
        marks, references = self._marks[system], document.references_of(segment)
        if marks is None and references:
            output = document.outputs[system][segment]
            ours, theirs = differences(output, references[0], self._corpus.target_language)
            return {"source": (), "reference": theirs, "output": ours}
        sides = ("source", "reference", "output")
        return {side: (marks or {}).get((document.id, segment, side), ()) for side in sides}

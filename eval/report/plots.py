"""Plots of an evaluation report: scores as points, their intervals as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ape.reports.plot_geometry import IntervalLine, Scale


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A score with its interval; without an interval both ends equal the score."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A system's score and its position in the plot; None if not measured."""

    system: str
    span: ScoreInterval | None
    line: IntervalLine | None


@dataclass(frozen=True, slots=True)
class ScorePlot:
    """Systems on one scale, from `low` at the left to `high` at the right; `mark` is the position of the baseline."""

    name: str
    lines: tuple[ScoreLine, ...]
    low: float
    high: float
    mark: float | None


def score_plot(name: str, spans: Mapping[str, ScoreInterval | None], *, baseline: str = "") -> ScorePlot | None:
    """Lay out the plot; None if no system has a score."""
    known = [span for span in spans.values() if span]
    if not known:
        return None
    scale = Scale.with_margin(min(span.low for span in known), max(span.high for span in known))
    lines = tuple(
        ScoreLine(system, span, scale.interval(span.value, span.low, span.high) if span else None)
        for system, span in spans.items()
    )
    reference = spans.get(baseline)
    mark = scale.position(reference.value) if reference else None
    return ScorePlot(name, lines, scale.low, scale.high, mark)

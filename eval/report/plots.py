"""Plots of an evaluation report: scores as points, their intervals as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ape.reports.plot_geometry import IntervalLine, Scale


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A score with the ends of its interval, both equal to the score where there is no interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A system's score and its position in the plot; None where the score was not measured."""

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


def score_plot(
    name: str, spans: Mapping[str, ScoreInterval | None], *, baseline: str = ""
) -> ScorePlot | None:
    """The plot, or None where no system has a score."""
    known = [span for span in spans.values() if span]
    if not known:
        return None
    scale = Scale.with_margin(min(span.low for span in known), max(span.high for span in known))
    lines = tuple(
        ScoreLine(system, span, scale.interval(span.value, span.low, span.high) if span else None)
        for system, span in spans.items()
    )
    ground = spans.get(baseline)
    mark = scale.position(ground.value) if ground else None
    return ScorePlot(name, lines, scale.low, scale.high, mark)

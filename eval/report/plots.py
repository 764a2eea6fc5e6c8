"""The geometry of the plots: scores as points, their intervals as bars, in boxes 1000 wide that are stretched to fit.

Words never stand in the box, since they would be stretched with it: the page writes them around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WIDTH = 1000
# Of the box on either side, so that no point is cut; the style sheet insets the words of the scale as much.
_RIM = 0.06


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A score with the ends of its interval, which are the score itself where there is none."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A system's point and bar; none of either where nothing was measured."""

    system: str
    span: ScoreInterval | None
    x: float = 0
    start: float = 0
    end: float = 0


@dataclass(frozen=True, slots=True)
class ScorePlot:
    """Systems on one scale, from `low` at the left to `high` at the right; `mark` is where the baseline is."""

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
    low, high = min(span.low for span in known), max(span.high for span in known)

    def x(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(WIDTH * (_RIM + (1 - 2 * _RIM) * share), 2)

    lines = tuple(
        ScoreLine(system, span, x(span.value), x(span.low), x(span.high)) if span else ScoreLine(system, None)
        for system, span in spans.items()
    )
    ground = spans.get(baseline)
    return ScorePlot(name, lines, low, high, x(ground.value) if ground else None)

"""Plots of a comparison: gains against edit rates, and gains by chapter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ape.reports.plot_geometry import Scale, round_ticks

WIDTH, HEIGHT = 640, 340
# Margins for axis labels and points at the edge.
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 16, 40
# Smallest distance between labels that do not overlap.
_LABEL_DISTANCE = 15


@dataclass(frozen=True, slots=True)
class SystemGain:
    """Edit rate and gain of a system; without an interval, both ends are the gain."""

    system: str
    rate: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GainPoint:
    """A system in the plot: its position, interval and label."""

    gain: SystemGain
    x: float
    y: float
    top: float
    bottom: float
    label: float


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A tick of an axis: position and value."""

    at: float
    value: float


@dataclass(frozen=True, slots=True)
class GainPlot:
    """Gains against edit rates; `zero` is the height of no gain."""

    points: tuple[GainPoint, ...]
    across: tuple[AxisTick, ...]
    up: tuple[AxisTick, ...]
    zero: float


@dataclass(frozen=True, slots=True)
class ChapterGainDot:
    """A chapter: position and label."""

    x: float
    words: str


@dataclass(frozen=True, slots=True)
class ChapterGainStrip:
    """The chapters of one system; `middle` is their median."""

    system: str
    dots: tuple[ChapterGainDot, ...]
    middle: float | None
    words: str


@dataclass(frozen=True, slots=True)
class ChapterGainPlot:
    """All systems on one scale, from `low` at the left to `high` at the right."""

    strips: tuple[ChapterGainStrip, ...]
    low: float
    high: float
    zero: float


def gain_plot(gains: Sequence[SystemGain]) -> GainPlot | None:
    """Lay out the plot; None without gains."""
    if not gains:
        return None
    widest = max(0.01, *(one.rate for one in gains))
    low, high = min(0.0, *(one.low for one in gains)), max(0.0, *(one.high for one in gains))
    if high - low < 1e-9:
        low, high = -1.0, 1.0
    across, up = round_ticks(0.0, widest), round_ticks(low, high)
    x = Scale(0.0, max(widest, across[-1]), LEFT, WIDTH - RIGHT, digits=1).position
    y = Scale(min(low, up[0]), max(high, up[-1]), HEIGHT - BOTTOM, TOP, digits=1).position
    placed = [(one, x(one.rate), y(one.gain), y(one.high), y(one.low)) for one in gains]
    labels = _labels([place[2] for place in placed])
    points = tuple(GainPoint(*place, label) for place, label in zip(placed, labels, strict=True))
    return GainPlot(
        points,
        tuple(AxisTick(x(value), value) for value in across),
        tuple(AxisTick(y(value), value) for value in up),
        y(0.0),
    )


def _labels(heights: Sequence[float]) -> list[float]:
    """Heights of labels next to points, without overlaps."""
    found = [0.0] * len(heights)
    last = -math.inf
    for place in sorted(range(len(heights)), key=lambda place: heights[place]):
        last = max(heights[place], last + _LABEL_DISTANCE)
        found[place] = round(last, 1)
    return found


def chapter_gain_plot(scores: Mapping[str, Mapping[str, float | None]]) -> ChapterGainPlot | None:
    """Lay out the gains by system and chapter; None for fewer than two chapters."""
    known = {system: {name: one for name, one in found.items() if one is not None} for system, found in scores.items()}
    every = [one for found in known.values() for one in found.values()]
    if max((len(found) for found in known.values()), default=0) < 2:
        return None
    scale = Scale.with_margin(min(0.0, *every), max(0.0, *every))
    x = scale.position
    drawn = tuple(
        ChapterGainStrip(
            system,
            tuple(ChapterGainDot(x(one), f"{name}: {one:+.2f}") for name, one in found.items()),
            x(median(found.values())) if found else None,
            _in_words(found),
        )
        for system, found in known.items()
    )
    return ChapterGainPlot(drawn, scale.low, scale.high, x(0.0))


def _in_words(found: Mapping[str, float]) -> str:
    up = sum(one > 1e-9 for one in found.values())
    down = sum(one < -1e-9 for one in found.values())
    return f"{up} up, {down} down"

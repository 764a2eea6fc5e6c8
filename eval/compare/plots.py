"""The geometry of a comparison's plots: gains against edits as a cloud, and chapters as strips of points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

WIDTH, HEIGHT = 640, 340
# Room for the words of the scales, and so that no point is cut.
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 16, 40
STRIP_WIDTH = 1000
_RIM = 0.06
_TICKS = 5
# Words of two labels nearer than this would stand on each other.
_APART = 15


@dataclass(frozen=True, slots=True)
class SystemGain:
    """How much of the MT a system changed, and what that gained; where there is no interval it is the gain itself."""

    system: str
    rate: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class GainPoint:
    """A system in the cloud: its place, the ends of its interval, and where its name stands."""

    gain: SystemGain
    x: float
    y: float
    top: float
    bottom: float
    label: float


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A place on a scale, and the number there."""

    at: float
    value: float


@dataclass(frozen=True, slots=True)
class GainPlot:
    """Gains against edits; `zero` is the height of no gain at all."""

    points: tuple[GainPoint, ...]
    across: tuple[AxisTick, ...]
    up: tuple[AxisTick, ...]
    zero: float


@dataclass(frozen=True, slots=True)
class ChapterGainDot:
    """A chapter on its strip, and what it says."""

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
    """The plot; None where nothing was gained or lost by anybody that can be shown."""
    if not gains:
        return None
    widest = max(0.01, *(one.rate for one in gains))
    low, high = min(0.0, *(one.low for one in gains)), max(0.0, *(one.high for one in gains))
    if high - low < 1e-9:
        low, high = -1.0, 1.0
    across, up = _ticks(0.0, widest), _ticks(low, high)
    widest, low, high = max(widest, across[-1]), min(low, up[0]), max(high, up[-1])

    def x(rate: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * rate / widest, 1)

    def y(gain: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - gain) / (high - low), 1)

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
    """Where words stand beside points of these heights, none on another's."""
    found = [0.0] * len(heights)
    last = -math.inf
    for place in sorted(range(len(heights)), key=lambda place: heights[place]):
        last = max(heights[place], last + _APART)
        found[place] = round(last, 1)
    return found


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from below `low` to above `high`."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


def chapter_gain_plot(scores: Mapping[str, Mapping[str, float | None]]) -> ChapterGainPlot | None:
    """Of every system, the numbers of its chapters by name; None where there are fewer than two chapters."""
    known = {
        system: {name: one for name, one in found.items() if one is not None}
        for system, found in scores.items()
    }
    every = [one for found in known.values() for one in found.values()]
    if max((len(found) for found in known.values()), default=0) < 2:
        return None
    low, high = min(0.0, *every), max(0.0, *every)

    def x(value: float) -> float:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(STRIP_WIDTH * (_RIM + (1 - 2 * _RIM) * share), 2)

    drawn = tuple(
        ChapterGainStrip(
            system,
            tuple(ChapterGainDot(x(one), f"{name}: {one:+.2f}") for name, one in found.items()),
            x(median(found.values())) if found else None,
            _in_words(found),
        )
        for system, found in known.items()
    )
    return ChapterGainPlot(drawn, low, high, x(0.0))


def _in_words(found: Mapping[str, float]) -> str:
    up = sum(one > 1e-9 for one in found.values())
    down = sum(one < -1e-9 for one in found.values())
    return f"{up} up, {down} down"

"""Geometry of the plots: positions in a box that the page stretches to fit.

Text never goes inside a stretched box; the page writes it around the box.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 1000, 100
# Share of the width left free on either side, so that no point is clipped; scores.css insets the labels as much.
_MARGIN = 0.06
_BINS = 30


@dataclass(frozen=True, slots=True)
class IntervalLine:
    """Positions of a value and of the ends of its interval."""

    start: float
    x: float
    end: float


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map of the values `low` to `high` to the positions `start` to `end`."""

    low: float
    high: float
    start: float = 0.0
    end: float = WIDTH
    digits: int = 2

    @classmethod
    def with_margin(cls, low: float, high: float) -> Scale:
        """A scale over the box's width with free space on either side."""
        return cls(low, high, WIDTH * _MARGIN, WIDTH * (1 - _MARGIN))

    def position(self, value: float) -> float:
        """The position of a value; the middle where all values are equal."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + (self.end - self.start) * share, self.digits)

    def interval(self, value: float, low: float | None, high: float | None) -> IntervalLine:
        """Positions of a value and its interval; an end that is None reaches the edge of the box."""
        return IntervalLine(
            0.0 if low is None else self.position(low),
            self.position(value),
            float(WIDTH) if high is None else self.position(high),
        )


def round_ticks(low: float, high: float, *, count: int = 5) -> list[float]:
    """About `count` round numbers that enclose `low` and `high`."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a stacked bar; `status` is also its CSS class."""

    status: str
    count: int
    start: float
    length: float


def stack_parts(
    counts: Iterable[tuple[str, int]], *, total: int, length: float = WIDTH, least: float = 0.0
) -> list[BarPart]:
    """Stack counts as parts of a bar on which `total` takes `length`.

    No part is shorter than `least`; the longest part gives up what this adds. Counts of zero are left out.
    """
    present = [(status, count) for status, count in counts if count]
    lengths = [max(length * count / total, least) for _, count in present]
    if lengths:
        excess = sum(lengths) - length * sum(count for _, count in present) / total
        lengths[lengths.index(max(lengths))] -= excess
    parts, start = [], 0.0
    for (status, count), size in zip(present, lengths, strict=True):
        parts.append(BarPart(status, count, round(start, 2), round(size, 2)))
        start += size
    return parts


def columns(number: int, *, widest: float = WIDTH) -> Iterator[tuple[float, float]]:
    """Start and width of equal columns that fill the box, none wider than `widest`."""
    width = min(WIDTH / max(number, 1), widest)
    return ((round(place * width, 2), round(width, 2)) for place in range(number))


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """A bar of a histogram, with the range of values that it counts."""

    low: float
    high: float
    count: int
    x: float
    width: float
    y: float
    height: float


def histogram_bins(values: Sequence[float], *, end: float) -> list[HistogramBin]:
    """Count values in equal bins from 0 to `end`; the last also takes larger values, and empty bins are left out."""
    counts = [0] * _BINS
    for value in values:
        counts[min(max(int(value * _BINS / end), 0), _BINS - 1)] += 1
    top = max(counts)
    heights = Scale(0, top, 0, HEIGHT)
    return [
        HistogramBin(
            low=place * end / _BINS,
            high=(place + 1) * end / _BINS,
            count=count,
            x=round(x + 1, 2),
            width=round(width - 2, 2),
            y=round(HEIGHT - heights.position(count), 2),
            height=heights.position(count),
        )
        for place, (count, (x, width)) in enumerate(zip(counts, columns(_BINS), strict=True))
        if count
    ]

"""The geometry of the plots: where bars stand in a box 1000 wide and 100 high, which the page stretches to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 1000, 100
BINS = 30


@dataclass(frozen=True, slots=True)
class BarPart:
    """A stretch of a bar: what it stands for, as a class of the style sheet, and where it is."""

    status: str
    words: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar that lies, with its name before it and its number behind."""

    name: str
    number: int
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class HistogramBin:
    """A bar that stands."""

    words: str
    x: float
    width: float
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class DataHistogram:
    """Bars that stand side by side, the number at the top of the box, and the values at its left and right."""

    bins: tuple[HistogramBin, ...]
    top: int
    left: str
    right: str


def layout_bars(counts: Sequence[tuple[str, int, Sequence[tuple[str, str, int]]]]) -> list[BarRow]:
    """Bars from (name, number, parts), a part being (status, words, count); the longest fills the width."""
    most = max((sum(count for *_, count in parts) for _, _, parts in counts), default=0) or 1
    return [BarRow(name, number, tuple(_parts(parts, most))) for name, number, parts in counts]


def _parts(parts: Sequence[tuple[str, str, int]], most: int) -> list[BarPart]:
    found, start = [], 0.0
    for status, words, count in parts:
        if count:
            # A few of many thousands are thinner than a pixel, and yet they are there.
            length = max(WIDTH * count / most, 3)
            found.append(BarPart(status, f"{count:,} {words}", round(start, 2), round(length, 2)))
            start += length
    return found


def layout_histogram(values: Sequence[float], *, unit: str, highest: float | None = None) -> DataHistogram:
    """The values in bins of equal width; those over `highest` stand in the last."""
    if not values:
        return DataHistogram((), 0, "0", "0")
    end = highest or max(values) or 1.0
    counts, edges = np.histogram(np.clip(values, 0, end), bins=BINS, range=(0, end))
    top = int(counts.max())
    slot = WIDTH / BINS
    bins = tuple(
        HistogramBin(
            f"{_number(edges[place])} to {_number(edges[place + 1])}{unit}: {count:,}",
            round(place * slot + 1, 2),
            round(slot - 2, 2),
            round(HEIGHT * (1 - count / top), 2),
            round(HEIGHT * count / top, 2),
        )
        for place, count in enumerate(counts.tolist())
        if count
    )
    over = highest is not None and max(values) > end
    return DataHistogram(bins, top, "0", f"{_number(end)}{unit}{' and more' if over else ''}")


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:,.0f}"

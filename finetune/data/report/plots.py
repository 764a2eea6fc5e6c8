"""Plots of a training set: stacked bars and histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ape.reports.plot_geometry import BarPart, HistogramBin, histogram_bins, stack_parts

# Minimum width, since a few of many thousands would be thinner than a pixel.
_LEAST_PART = 3


@dataclass(frozen=True, slots=True)
class BarRow:
    """A horizontal bar, with its name and number; `labels` describe its parts."""

    name: str
    number: int
    parts: tuple[BarPart, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DataHistogram:
    """Labelled bars, the count at the top of the box, and the values at its left and right."""

    bars: tuple[tuple[str, HistogramBin], ...]
    top: int
    left: str
    right: str


def layout_bars(counts: Sequence[tuple[str, int, Sequence[tuple[str, str, int]]]]) -> list[BarRow]:
    """Bars from (name, number, parts), a part being (status, label, count); the longest fills the width."""
    total = max((sum(count for *_, count in parts) for _, _, parts in counts), default=0) or 1
    return [
        BarRow(
            name,
            number,
            tuple(stack_parts([(status, count) for status, _, count in parts], total=total, least=_LEAST_PART)),
            tuple(f"{count:,} {label}" for _, label, count in parts if count),
        )
        for name, number, parts in counts
    ]


def layout_histogram(values: Sequence[float], *, unit: str, highest: float | None = None) -> DataHistogram:
    """Bins of equal width from 0; the last one includes values over `highest`."""
    if not values:
        return DataHistogram((), 0, "0", "0")
    end = highest or max(values) or 1.0
    bins = histogram_bins(values, end=end)
    bars = tuple((f"{_number(one.low)} to {_number(one.high)}{unit}: {one.count:,}", one) for one in bins)
    over = highest is not None and max(values) > end
    right = f"{_number(end)}{unit}{' and more' if over else ''}"
    return DataHistogram(bars, max(one.count for one in bins), "0", right)


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 2 else f"{value:,.0f}"

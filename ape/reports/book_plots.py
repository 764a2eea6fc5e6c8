"""Plots of a book report: statuses by chapter, and the edit rate along the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ape.reports.book_counts import STATUSES, ChapterStatuses, EditRateBin
from ape.reports.plot_geometry import HEIGHT, BarPart, Scale, columns, stack_parts

# Bars thinner than about six pixels can be neither distinguished nor clicked: more chapters than this share bars.
_MOST_BARS = 100
# The width of the bar of a book with a single chapter.
_WIDEST_BAR = 120
_LEAST_PART = 8
_CEILINGS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class ChapterBar:
    """The bar of one or several chapters; its parts start at the bottom, `column` is the clickable area."""

    chapter: int
    label: str
    x: float
    width: float
    column: tuple[float, float]
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class EditRatePoint:
    """The edit rate of neighbouring paragraphs; `column` is the clickable area."""

    anchor: str
    label: str
    x: float
    y: float
    column: tuple[float, float]


@dataclass(frozen=True, slots=True)
class EditRateLine:
    """The edit rate along the book: points, unbroken runs as SVG paths, and the rate at the top of the box."""

    points: tuple[EditRatePoint, ...]
    strokes: tuple[str, ...]
    areas: tuple[str, ...]
    ceiling: float


def status_parts(statuses: Counter[str]) -> list[BarPart]:
    """Parts of one bar, by status, none too thin to see."""
    return stack_parts(_ordered(statuses), total=statuses.total(), least=_LEAST_PART)


def _ordered(statuses: Counter[str]) -> list[tuple[str, int]]:
    return [(status, statuses[status]) for status in STATUSES]


def chapter_bars(chapters: Sequence[ChapterStatuses]) -> tuple[list[ChapterBar], int]:
    """A bar for each chapter, and the number of paragraphs at the top of the box."""
    group_size = -(-len(chapters) // _MOST_BARS) or 1
    groups = [chapters[i : i + group_size] for i in range(0, len(chapters), group_size)]
    counts = [sum((chapter.statuses for chapter in group), Counter[str]()) for group in groups]
    top = max((count.total() for count in counts), default=0)
    bars = []
    for group, count, column in zip(groups, counts, columns(len(groups), widest=_WIDEST_BAR), strict=True):
        gap = min(column[1] * 0.2, 10)
        bars.append(
            ChapterBar(
                chapter=group[0].number,
                label=f"{_chapter_names(group)}: {describe_counts(count)}",
                x=round(column[0] + gap / 2, 2),
                width=round(column[1] - gap, 2),
                column=column,
                parts=tuple(map(_from_bottom, stack_parts(_ordered(count), total=top, length=HEIGHT))),
            )
        )
    return bars, top


def _from_bottom(part: BarPart) -> BarPart:
    return replace(part, start=round(HEIGHT - part.start - part.length, 2))


def describe_counts(count: Counter[str]) -> str:
    """Counts by status as a comma-separated list."""
    return ", ".join(f"{count[status]:,} {status}" for status in STATUSES if count[status])


def _chapter_names(group: Sequence[ChapterStatuses]) -> str:
    first, last = group[0], group[-1]
    if first is not last:
        return f"Chapters {first.number + 1} to {last.number + 1}"
    return f"Chapter {first.number + 1}" + (f", {first.title}" if first.title else "")


def edit_rate_line(bins: Sequence[EditRateBin]) -> EditRateLine:
    """The line of edit rates, broken where no paragraph is finished."""
    highest = max((group.rate or 0.0 for group in bins), default=0.0)
    ceiling = next((ceiling for ceiling in _CEILINGS if ceiling >= highest), -(-highest // 1))
    scale = Scale(0, ceiling, HEIGHT, 0)
    runs: list[list[EditRatePoint]] = [[]]
    for group, (x, width) in zip(bins, columns(len(bins)), strict=True):
        if group.rate is None:
            runs.append([])
        else:
            middle, y = round(x + width / 2, 2), scale.position(group.rate)
            runs[-1].append(EditRatePoint(group.anchor, _describe_rate(group), middle, y, (x, width)))
    drawn = [run for run in runs if run]
    return EditRateLine(
        points=tuple(point for run in drawn for point in run),
        strokes=tuple(f"M{_path(run)}" for run in drawn),
        areas=tuple(f"M{run[0].x:g},{HEIGHT}L{_path(run)}L{run[-1].x:g},{HEIGHT}Z" for run in drawn),
        ceiling=ceiling,
    )


def _describe_rate(group: EditRateBin) -> str:
    first, last = group.first + 1, group.first + group.paragraphs
    where = f"Paragraph {first:,}" if first == last else f"Paragraphs {first:,} to {last:,}"
    return f"{where}: {group.rate or 0:.1%} changed"


def _path(run: Iterable[EditRatePoint]) -> str:
    return "L".join(f"{point.x:g},{point.y:g}" for point in run)

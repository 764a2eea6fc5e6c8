"""The geometry of the report's plots: where bars and points stand in a box 1000 wide and 100 high, stretched to fit.

Words never stand in the box, since they would be stretched with it: the page writes them around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ape.reports.book_counts import STATUSES, ChapterStatuses, EditRateBin

WIDTH, HEIGHT = 1000, 100
# Bars thinner than some six pixels can't be told apart or hit: more chapters than this share bars.
_MOST_BARS = 100
# One chapter alone is no poster.
_WIDEST = 120
_CEILINGS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class StatusSlice:
    """The part of a bar that stands for one status."""

    status: str
    start: float
    length: float


@dataclass(frozen=True, slots=True)
class ChapterBar:
    """One chapter, or several that share a bar: its place, its words, and its slices from the bottom up."""

    chapter: int
    words: str
    x: float
    width: float
    slot: tuple[float, float]
    slices: tuple[StatusSlice, ...]


@dataclass(frozen=True, slots=True)
class EditRatePoint:
    """A stretch of the book on the line of edit rates, and the column in which a click means it."""

    anchor: str
    words: str
    x: float
    y: float
    slot: tuple[float, float]


@dataclass(frozen=True, slots=True)
class EditRateLine:
    """The edit rate along the book: its points, its unbroken runs as SVG paths, and the rate at the top of the box."""

    points: tuple[EditRatePoint, ...]
    strokes: tuple[str, ...]
    areas: tuple[str, ...]
    ceiling: float


def status_slices(statuses: Counter[str]) -> list[StatusSlice]:
    """The statuses as slices of one bar from left to right, none of them too thin to see."""
    total = statuses.total()
    widths = {status: max(8, WIDTH * statuses[status] // total) for status in STATUSES if statuses[status]}
    if widths:
        widest = max(widths, key=lambda status: widths[status])
        widths[widest] += WIDTH - sum(widths.values())
    edges = pairwise(accumulate(widths.values(), initial=0))
    return [
        StatusSlice(status, start, end - start) for status, (start, end) in zip(widths, edges, strict=True)
    ]


def chapter_bars(chapters: Sequence[ChapterStatuses]) -> tuple[list[ChapterBar], int]:
    """A bar for each chapter as high as it has paragraphs, and the number of paragraphs at the top of the box."""
    together = -(-len(chapters) // _MOST_BARS) or 1
    groups = [chapters[i : i + together] for i in range(0, len(chapters), together)]
    counts = [sum((chapter.statuses for chapter in group), Counter[str]()) for group in groups]
    top = max((count.total() for count in counts), default=0)
    slot = min(WIDTH / max(len(groups), 1), _WIDEST)
    gap = min(slot * 0.2, 10)
    return [
        ChapterBar(
            chapter=group[0].number,
            words=f"{_names(group)}: {describe_counts(count)}",
            x=round(i * slot + gap / 2, 2),
            width=round(slot - gap, 2),
            slot=(round(i * slot, 2), round(slot, 2)),
            slices=tuple(_stacked(count, top)),
        )
        for i, (group, count) in enumerate(zip(groups, counts, strict=True))
    ], top


def _stacked(count: Counter[str], top: int) -> Iterator[StatusSlice]:
    floor = float(HEIGHT)
    for status in STATUSES:
        if count[status]:
            length = HEIGHT * count[status] / top
            floor -= length
            yield StatusSlice(status, round(floor, 2), round(length, 2))


def describe_counts(count: Counter[str]) -> str:
    """Counts by status, as a sentence would list them."""
    return ", ".join(f"{count[status]:,} {status}" for status in STATUSES if count[status])


def _names(group: Sequence[ChapterStatuses]) -> str:
    first, last = group[0], group[-1]
    if first is not last:
        return f"Chapters {first.number + 1} to {last.number + 1}"
    return f"Chapter {first.number + 1}" + (f", {first.title}" if first.title else "")


def edit_rate_line(stretches: Sequence[EditRateBin]) -> EditRateLine:
    """The line of edit rates, broken where nothing is finished."""
    highest = max((stretch.rate or 0.0 for stretch in stretches), default=0.0)
    ceiling = next((ceiling for ceiling in _CEILINGS if ceiling >= highest), -(-highest // 1))
    slot = WIDTH / max(len(stretches), 1)
    runs: list[list[EditRatePoint]] = [[]]
    for i, stretch in enumerate(stretches):
        if stretch.rate is None:
            runs.append([])
            continue
        y = HEIGHT * (1 - stretch.rate / ceiling)
        x = round((i + 0.5) * slot, 2)
        runs[-1].append(
            EditRatePoint(
                stretch.anchor, _spoken(stretch), x, round(y, 2), (round(i * slot, 2), round(slot, 2))
            )
        )
    drawn = [run for run in runs if run]
    return EditRateLine(
        points=tuple(point for run in drawn for point in run),
        strokes=tuple(f"M{_path(run)}" for run in drawn),
        areas=tuple(f"M{run[0].x:g},{HEIGHT}L{_path(run)}L{run[-1].x:g},{HEIGHT}Z" for run in drawn),
        ceiling=ceiling,
    )


def _spoken(stretch: EditRateBin) -> str:
    first, last = stretch.first + 1, stretch.first + stretch.paragraphs
    where = f"Paragraph {first:,}" if first == last else f"Paragraphs {first:,} to {last:,}"
    return f"{where}: {stretch.rate or 0:.1%} changed"


def _path(run: Iterable[EditRatePoint]) -> str:
    return "L".join(f"{point.x:g},{point.y:g}" for point in run)

"""Split tables that are wider than the terminal, so that no number is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_GAP = 2  # between two columns, as in rich
_NAME = 12  # minimum width of the names; longer names are wrapped


@dataclass(frozen=True, slots=True)
class TableLine:
    """A row: its name, and a cell for each column."""

    name: Text
    cells: Sequence[Text]


def print_wide_table(
    console: Console, of: str, columns: Sequence[str], lines: Sequence[TableLine], *, wrap_headings: bool = False
) -> None:
    """Print a table in parts that fit the console; each part repeats the first column, `of`.

    A cell that is wider than the console is not cut; the terminal wraps it.
    """
    widths = [
        max(_heading(column, wrap=wrap_headings), *(cell_len(line.cells[at].plain) for line in lines))
        for at, column in enumerate(columns)
    ]
    natural = max(map(cell_len, (of, *(line.name.plain for line in lines))))
    name = min(natural, max(_NAME, console.width - max(widths, default=0) - _GAP))
    console.width = max(console.width, name + _GAP + max(widths, default=0))
    for number, part in enumerate(_parts(widths, console.width - name)):
        table = Table(box=None, pad_edge=False)
        table.add_column(Text(of), width=name, overflow="fold")
        for at in part:
            table.add_column(Text(columns[at]), width=widths[at], justify="right", vertical="bottom")
        for line in lines:
            table.add_row(line.name, *(line.cells[at] for at in part))
        if number:
            console.print()
        console.print(table)


def _heading(column: str, *, wrap: bool) -> int:
    return max(map(cell_len, column.split()), default=0) if wrap else cell_len(column)


def _parts(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Groups of columns that fit the console, each with at least one column."""
    part: list[int] = []
    used = 0
    for at, width in enumerate(widths):
        if part and used + _GAP + width > room:
            yield part
            part, used = [], 0
        part.append(at)
        used += _GAP + width
    yield part

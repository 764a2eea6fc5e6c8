"""Split tables that are wider than the terminal, so that no number is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_GAP = 2  # between two columns, as rich sets them
_NAME = 12  # what a name is left at least; a longer one goes on in the next line


@dataclass(frozen=True, slots=True)
class TableLine:
    """A row: its name, and a cell for each column."""

    name: Text
    cells: Sequence[Text]


def print_wide_table(
    console: Console,
    of: str,
    columns: Sequence[str],
    lines: Sequence[TableLine],
    *,
    wrap_headings: bool = False,
) -> None:
    """Print a table whose first column, `of`, is repeated before every part of the others that fits the console.

    A cell that is wider than the console goes on beyond its edge, and the terminal wraps it.
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
    """Groups of columns that fit the console, at least one each."""
    part: list[int] = []
    used = 0
    for at, width in enumerate(widths):
        if part and used + _GAP + width > room:
            yield part
            part, used = [], 0
        part.append(at)
        used += _GAP + width
    yield part

"""Wide tables on narrow terminals: no number and no name is cut at any width."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.text import Text

from ape.cli.eval.wide_table import TableLine, print_wide_table

METRICS = ("bleu ↑", "blonde ↑", "dip-consistency ↑", "dip-connectives ↑", "zero-pronouns ↑", "kp ↑")
CELLS = {
    "google": ("13.66 [11.07, 16.35]", "0.2816 [0.2591, 0.3062]", "61.33* [55.10, 67.52]", "n/a", "0.5", "1"),
    "a system": ("9.01* [8.20, 10.11]", "0.2710 [0.2491, 0.2962]", "44.20 [40.10, 49.52]", "n/a", "7", "100.00"),
}  # fmt: skip


def printed(width: int, *, names: tuple[str, ...] = tuple(CELLS)) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    lines = [
        TableLine(Text(name), [Text(cell) for cell in cells]) for name, cells in zip(names, CELLS.values(), strict=True)
    ]
    print_wide_table(console, "system", METRICS, lines)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [20, 40, 80, 150, 400])
def test_every_number_and_every_heading_is_whole(width: int) -> None:
    text = printed(width)
    assert "…" not in text
    for cell in (*METRICS, *(cell for cells in CELLS.values() for cell in cells)):
        assert re.search(rf"(?<!\S){re.escape(cell)}(?!\S)", text), cell


@pytest.mark.parametrize("width", [60, 80, 150])
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    assert max(map(len, printed(width).splitlines())) <= width


def test_what_fits_is_one_table_and_each_part_of_another_names_the_systems() -> None:
    assert printed(400).count("google") == 1
    assert printed(80).count("google") == printed(80).count("a system") == 2


def test_a_long_name_is_wrapped() -> None:
    text = printed(40, names=("a-system-with-a-very-long-name-indeed", "b"))
    first = "".join(line[:15].strip() for line in text.split("\n\n")[0].splitlines()[1:-1])
    assert first == "a-system-with-a-very-long-name-indeed"


def test_headings_of_several_words_may_be_set_in_lines() -> None:
    console = Console(file=io.StringIO(), width=30)
    print_wide_table(
        console, "type", ["common phrases found"] * 2, [TableLine(Text("x"), [Text("1.00")] * 2)], wrap_headings=True
    )
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().split() == "common common phrases phrases type found found x 1.00 1.00".split()

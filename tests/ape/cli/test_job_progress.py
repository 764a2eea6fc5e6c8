"""The progress bar of a book job."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from ape.cli.job_progress import _book_progress, _short


def test_count_rate_and_time_left_are_uncut_at_80_columns() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    with _book_progress(console) as bar:
        name = _short(Path("the-very-long-name-of-a-book-in-english.epub").name)
        bar.add_task(name, total=12_345, completed=1_234, so_far="1234 a minute · 12.3 h left")
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    last = next(line for line in reversed(lines) if "12345" in line)
    assert "1234/12345" in last
    assert "1234 a minute · 12.3 h left" in last
    assert last.count("…") == 1, "only the name is shortened"

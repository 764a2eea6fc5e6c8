from __future__ import annotations

from benchmarks.startup import HEAVY, imported


def test_help_imports_nothing_that_only_the_work_needs() -> None:
    modules = imported()
    assert "typer" in modules  # or nothing was seen at all
    assert not modules & HEAVY

from __future__ import annotations

from benchmarks.startup import HEAVY_MODULES, modules_imported_by_help


def test_help_imports_nothing_that_only_the_work_needs() -> None:
    modules = modules_imported_by_help()
    assert "typer" in modules  # or nothing was seen at all
    assert not modules & HEAVY_MODULES

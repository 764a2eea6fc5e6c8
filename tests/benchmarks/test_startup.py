from __future__ import annotations

import pytest

from benchmarks.startup import HEAVY_MODULES, modules_imported_by_help


@pytest.mark.subprocess
def test_help_imports_no_heavy_modules() -> None:
    modules = modules_imported_by_help()
    assert "typer" in modules  # the modules were recorded
    assert not modules & HEAVY_MODULES

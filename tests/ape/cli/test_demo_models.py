"""The demo in its short form on real models."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ape.models import DEFAULT_MODEL, LARGE_MODEL

pytestmark = [pytest.mark.slow, pytest.mark.subprocess]


def short_demo(model: str, folder: Path) -> str:
    command = [sys.executable, "-m", "ape.cli.main", "demo", "--model", model, "--passages", "1", "--html", "demo.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (folder / "demo.html").stat().st_size > 10_000
    return done.stdout


def test_the_demo_runs_on_the_small_model(smollm2: Path, tmp_path: Path) -> None:
    printed = short_demo(DEFAULT_MODEL, tmp_path)
    assert "of 2 passages" in printed
    assert len(printed.splitlines()) < 40


@pytest.mark.skipif("APE_TEST_LARGE_MODEL" not in os.environ, reason="takes minutes: set APE_TEST_LARGE_MODEL=1")
def test_the_demo_runs_on_the_large_model(tmp_path: Path) -> None:
    printed = short_demo(LARGE_MODEL, tmp_path)
    changed = re.search(r"(\d+) changes in \d+ of 2 passages", printed)
    assert changed
    assert int(changed[1]) > 0  # names of the first French passage, at least

"""The demo in its short form on real models."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ape.models import CATALOGUE, DEFAULT_MODEL, LARGE_MODEL, is_cached
from ape.settings import load_settings

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


def test_the_demo_runs_on_the_large_model_where_it_is_cached(tmp_path: Path) -> None:
    if not is_cached(CATALOGUE[LARGE_MODEL], cache=load_settings().cache):
        pytest.skip(f"{LARGE_MODEL} is not in the cache")
    printed = short_demo(LARGE_MODEL, tmp_path)
    changed = re.search(r"(\d+) changes in \d+ of 2 passages", printed)
    assert changed
    assert int(changed[1]) > 0  # names of the first French passage, at least

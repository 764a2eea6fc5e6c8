"""A library on a real Ray that is killed at work, or whose disk is full: nothing is lost, nothing is asked twice."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.delayed_server import run_delayed_server
from tests.ape.batch.library import make_library, write_manifest
from tests.ape.batch.test_on_ray import ape
from tests.ape.cli.conftest import Run, here  # noqa: F401
from tests.chaos.library import FAILURES, run_study

pytestmark = [pytest.mark.ray, pytest.mark.slow]


def test_actor_driver_and_node_are_killed(tmp_path: Path) -> None:
    """The node comes back; `python -m tests.chaos.library` kills more often, and the head too."""
    victims = ("actor", "driver", "node")
    counts = run_study(tmp_path, books=3, paragraphs=40, kills=3, delay=0.3, concurrency=4, seed=1, victims=victims)
    assert {name: counts[name] for name in FAILURES} == dict.fromkeys(FAILURES, 0)
    assert [counts[f"killed_{victim}"] for victim in victims] == [1, 1, 1]
    assert counts["exit"] == 0


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Mount a file system of one page on the folder, which only an administrator may."""
    folder.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system can't be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_at_the_results_stops_the_run_and_loses_nothing(here: Run, tmp_path: Path) -> None:  # noqa: F811
    books = make_library(tmp_path, 2, paragraphs=30, formats=("txt",))
    manifest, place = write_manifest(tmp_path / "m.csv", books), str(tmp_path / "batch")
    log = tmp_path / "asked.jsonl"
    with run_delayed_server(0.0, log) as url:
        planned = here("batch", "plan", str(manifest), "-o", place, "--url", url)
        assert planned.returncode == 0, planned.stderr
        with full_disk(tmp_path / "batch" / "results"):
            stopped = ape(tmp_path, "run", place, "--url", url, "--cpus", "0.5")
        assert stopped.returncode == 1, stopped.stderr
        assert "What was finished is kept" in stopped.stderr
        asked = log.read_text(encoding="utf-8")
        again = ape(tmp_path, "run", place, "--url", url, "--cpus", "0.5")
        assert again.returncode == 0, again.stderr
        assert log.read_text(encoding="utf-8") == asked
    assert here("batch", "assemble", place).returncode == 0
    assert all(book.output.exists() for book in books)

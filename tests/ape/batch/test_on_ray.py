"""The commands on a real Ray: a library is planned, run, put together, and not run twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ape.batch.folder import BatchFolder
from ape.batch.planning import read_plan
from ape.batch.run import Cluster, connected, read_rows
from benchmarks.delayed_server import POISON, run_delayed_server
from tests.ape.batch.library import make_library, write_manifest
from tests.ape.cli.conftest import Run, here  # noqa: F401

pytestmark = pytest.mark.ray


def ape(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `ape batch` as a process, which may start Ray."""
    environment = os.environ | {"APE_JOBS": str(folder / "jobs.sqlite"), "RAY_raylet_start_wait_time_s": "600"}
    environment |= {"APE_RETRY_ATTEMPTS": "1", "RAY_worker_niceness": "0"}
    command = [sys.executable, "-m", "ape.cli.main", "batch", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)


def test_a_library_is_planned_run_and_put_together(here: Run, tmp_path: Path) -> None:  # noqa: F811
    books = make_library(tmp_path, 3, paragraphs=12)
    text = books[0].mt.read_text(encoding="utf-8")
    books[0].mt.write_text(text.replace("Page 4:", f"{POISON} 4:"), encoding="utf-8")
    manifest, place = write_manifest(tmp_path / "m.csv", books), str(tmp_path / "batch")
    log = tmp_path / "asked.jsonl"
    with run_delayed_server(0.0, log) as url:
        planned = here("batch", "plan", str(manifest), "-o", place, "--url", url)
        assert planned.returncode == 0, planned.stderr
        assert f"Next: ape batch run {place}, with the same engine flags" in planned.stdout
        assert "3 books" in planned.stdout
        ran = ape(tmp_path, "run", place, "--url", url, "--concurrency", "4", "--cpus", "0.5")
        assert ran.returncode == 3, ran.stderr
        assert "2 of 3 stretches are finished, 1 in quarantine" in ran.stderr
        asked = log.read_text(encoding="utf-8")
        again = ape(tmp_path, "run", place, "--url", url, "--cpus", "0.5")
        assert again.returncode == 3, again.stderr
        assert log.read_text(encoding="utf-8") == asked
    status = here("batch", "status", place, "--json")
    assert [json.loads(line)["quarantined"] for line in status.stdout.splitlines()] == [1, 0, 0]
    assembled = here("batch", "assemble", place)
    assert assembled.returncode == 3
    assert "keeps the MT" in assembled.stderr
    assert "3 of 3 books were written" in assembled.stderr
    assert all(book.output.exists() for book in books)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # of Ray's own settings, when it copies them
def test_each_file_of_the_plan_is_a_block_of_its_own_so_that_all_actors_have_work(
    here: Run,  # noqa: F811
    tmp_path: Path,
) -> None:
    books = make_library(tmp_path, 5, paragraphs=100, formats=("txt",))
    manifest, place = write_manifest(tmp_path / "m.csv", books), str(tmp_path / "batch")
    with run_delayed_server(0.0) as url:
        planned = here("batch", "plan", str(manifest), "-o", place, "--url", url)
        assert planned.returncode == 0, planned.stderr
    folder = BatchFolder(place)
    plan = read_plan(folder)
    with connected(Cluster()):
        blocks = [len(one) for one in read_rows(folder, plan).iter_batches(batch_size=None, batch_format="pandas")]
    assert sorted(blocks) == [8, 16, 16]
    assert plan.stretches == 40


def test_the_plain_form_edits_paragraphs_alone(here: Run, tmp_path: Path) -> None:  # noqa: F811
    books = make_library(tmp_path, 1, paragraphs=8, formats=("txt",))
    manifest, place = write_manifest(tmp_path / "m.csv", books), str(tmp_path / "batch")
    with run_delayed_server(0.0) as url:
        planned = here("batch", "plan", str(manifest), "-o", place, "--url", url, "--context", "0")
        assert planned.returncode == 0, planned.stderr
        ran = ape(tmp_path, "run", place, "--url", url, "--plain")
    assert ran.returncode == 0, ran.stderr
    assert "no context" in ran.stderr
    assert here("batch", "assemble", place).returncode == 0
    assert books[0].output.read_text(encoding="utf-8") != books[0].mt.read_text(encoding="utf-8")

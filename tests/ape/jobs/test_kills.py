"""A killed book job loses and repeats nothing that was finished."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ape.jobs.job_files import JobFiles, job_id
from benchmarks.delayed_server import run_delayed_server
from tests.ape.jobs.kill_study import (
    Run,
    disturb,
    finished,
    kill_one_of_three,
    make_pair,
    run_until_done,
    wait_while_running,
)
from tests.ape.jobs.postgres import Postgres, missing, running_postgres

pytestmark = pytest.mark.subprocess


@pytest.fixture(scope="module")
def slow_model() -> Iterator[str]:
    """A slow model server."""
    with run_delayed_server(0.15) as url:
        yield url


def test_killed_at_random_moments_the_book_is_the_same_as_if_nothing_had_happened(
    tmp_path: Path, slow_model: str
) -> None:
    pair = make_pair(tmp_path, 60)
    flags = ("--url", slow_model, "--concurrency", "3")
    whole, broken = tmp_path / "whole.epub", tmp_path / "broken.epub"
    run_until_done(Run(str(tmp_path / "a.sqlite"), tmp_path / "a.log", pair.command(whole, *flags)))
    run = Run(str(tmp_path / "b.sqlite"), tmp_path / "b.log", pair.command(broken, *flags))
    job = job_id(JobFiles(pair.source, pair.mt), broken)
    assert disturb(run, job, kills=5, chance=random.Random(3), longest=6) > 0
    run_until_done(run)
    assert broken.read_bytes() == whole.read_bytes()
    assert len(finished(run.store, job)) == 60


def test_killed_on_the_real_model_the_book_is_the_same_to_the_last_byte(tmp_path: Path, smollm2: Path) -> None:
    pair = make_pair(tmp_path, 6, sentences=(1, 1))
    flags = ("--model", str(smollm2), "--max-attempts", "1", "--context", "1")
    whole, broken = tmp_path / "whole.epub", tmp_path / "broken.epub"
    run_until_done(Run(str(tmp_path / "a.sqlite"), tmp_path / "a.log", pair.command(whole, *flags)))
    run = Run(str(tmp_path / "b.sqlite"), tmp_path / "b.log", pair.command(broken, *flags))
    job = job_id(JobFiles(pair.source, pair.mt), broken)
    assert disturb(run, job, kills=2, chance=random.Random(5), longest=0.2, from_first_request=True) == 2
    run_until_done(run)
    assert broken.read_bytes() == whole.read_bytes()


def test_three_workers_on_postgresql_one_of_them_killed(tmp_path: Path, slow_model: str, postgres: Postgres) -> None:
    pair = make_pair(tmp_path, 120)
    flags = ("--url", slow_model, "--concurrency", "1")
    whole, shared = tmp_path / "whole.epub", tmp_path / "shared.epub"
    quick = ("--url", slow_model, "--concurrency", "8")
    run_until_done(Run(str(tmp_path / "a.sqlite"), tmp_path / "a.log", pair.command(whole, *quick)))
    run = Run(postgres.fresh("three"), tmp_path / "b.log", pair.command(shared, *flags))
    job = job_id(JobFiles(pair.source, pair.mt), shared)
    kill_one_of_three(run, job, more=flags, after=40)
    assert shared.read_bytes() == whole.read_bytes()
    assert len(finished(run.store, job)) == 120
    # Only the killed process can have sent requests in vain.
    assert len(run.requested()) <= 120 + 1


@pytest.mark.postgresql
@pytest.mark.skipif(bool(missing()), reason=missing() or "PostgreSQL is installed")
def test_an_editor_and_a_helper_wait_for_a_database_that_restarts(tmp_path: Path, slow_model: str) -> None:
    pair = make_pair(tmp_path, 40)
    output, flags = tmp_path / "out.epub", ("--url", slow_model, "--concurrency", "1")
    with running_postgres() as server:
        run = Run(server.fresh("restarts"), tmp_path / "log", pair.command(output, *flags))
        job = job_id(JobFiles(pair.source, pair.mt), output)
        editor = run.start()
        wait_while_running(lambda: len(run.requested()) > 2, editor)
        helper = Run(run.store, run.log, ["book", "work", job, *flags]).start()
        wait_while_running(lambda: len(run.requested()) > 12, editor)
        server.stop()
        server.start()
        for process in (editor, helper):
            said = process.communicate(timeout=300)[1].decode()
            assert process.returncode == 0, said
        assert len(finished(run.store, job)) == 40
    # A result that was on its way to the database when it went may be asked for again.
    assert len(run.requested()) <= 40 + 2

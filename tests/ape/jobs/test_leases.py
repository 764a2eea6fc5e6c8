"""A stretch has one worker at a time; that of a dead worker is taken over, and a late worker can't write to it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.leases import JobWorker, has_ended, this_host
from ape.jobs.store import JobStore
from ape.jobs.tables import results
from tests.ape.jobs.job_factory import RECIPE, a_job, a_plan, a_result, begin, claimed, planned

ROOT = Path(__file__).parents[3]
# Another machine, whose processes can't be checked.
FAR = JobWorker("far", "another machine", 1, "0")


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process with these arguments, killed at the end."""
    command = [sys.executable, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as running:
        try:
            yield running
        finally:
            running.kill()


def hand(url: str, *arguments: str) -> list[str]:
    return ["-m", "tests.ape.jobs.worker_process", url, "j", *arguments]


def worker_of(pid: int) -> JobWorker:
    """A worker in that process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return JobWorker(f"in {pid}", this_host(), pid, fields[19])


# One at a time.


def test_no_stretch_is_claimed_twice(store: JobStore) -> None:
    begin(store, 20)
    claims = [store.claim("j", JobWorker.here()) for _ in range(6)]
    assert sorted(one.number for one in claims if one) == [0, 1, 2, 3]
    assert claims[4:] == [None, None]


def test_a_worker_may_hold_several_and_never_the_same(store: JobStore, worker: JobWorker) -> None:
    begin(store, 10)
    assert {claimed(store, worker).number, claimed(store, worker).number} == {0, 1}
    assert store.claim("j", worker) is None
    assert store.renew(worker) == {("j", 0), ("j", 1)}


def test_the_heaviest_comes_first(store: JobStore, worker: JobWorker) -> None:
    store.add(a_job())
    plan = a_plan(15)
    plan[7] = planned(7, text="that is much longer than all others")
    store.plan("j", plan)
    assert [claimed(store, worker).number for _ in range(3)] == [1, 0, 2]


def test_a_stretch_has_its_paragraphs_in_order_and_those_before(store: JobStore, worker: JobWorker) -> None:
    store.add(a_job())
    plan = a_plan(15)
    plan[3] = planned(3, skip="an image")
    store.plan("j", plan)
    found = {stretch.number: stretch for stretch in (claimed(store, worker) for _ in range(3))}
    assert [row.planned for row in found[1].rows] == plan[5:10]
    assert list(found[1].before) == [plan[2], plan[4]]  # skipped paragraphs are not context
    assert found[0].before == ()
    assert found[2].before == ()  # a new chapter


def test_without_context_there_is_nothing_before(store: JobStore, worker: JobWorker) -> None:
    store.add(a_job(recipe=replace(RECIPE, context=0)))
    store.plan("j", a_plan(10))
    assert [claimed(store, worker).before for _ in range(2)] == [(), ()]


def test_a_released_stretch_is_anyones_and_not_the_old_holders(store: JobStore, worker: JobWorker) -> None:
    begin(store, 5)
    before = claimed(store, worker)
    store.save(before, "p0", a_result(), seconds=1)
    store.release(worker, before)
    after = claimed(store, JobWorker.here())
    assert [row.state for row in after.rows] == [ParagraphState.DONE] + [ParagraphState.WAITING] * 4
    assert not store.save(before, "p1", a_result(), seconds=1)
    assert store.save(after, "p1", a_result(), seconds=1)
    store.release(worker, before)  # too late to take it from the other
    assert store.save(after, "p2", a_result(), seconds=1)


def test_a_worker_that_goes_leaves_everything(store: JobStore, worker: JobWorker) -> None:
    begin(store, 10)
    claimed(store, worker), claimed(store, worker)
    store.release(worker)
    assert store.renew(worker) == set()
    assert {claimed(store, JobWorker.here()).number for _ in range(2)} == {0, 1}


def test_a_finished_stretch_is_nobodys(store: JobStore, worker: JobWorker) -> None:
    begin(store, 5)
    stretch = claimed(store, worker)
    for row in stretch.rows[:4]:
        store.save(stretch, row.planned.id, a_result(), seconds=1)
    store.fail(stretch, "p4", "bad", max_failures=1)
    assert store.renew(worker) == set()
    store.redo("j", paragraphs=["p4"])
    assert claimed(store, JobWorker.here()).number == 0


def test_the_same_worker_does_not_write_by_an_old_claim(store: JobStore, worker: JobWorker) -> None:
    begin(store, 5)
    old = claimed(store, worker)
    store.release(worker, old)
    new = claimed(store, worker)
    store.release(worker, old)
    assert not store.save(old, "p0", a_result(), seconds=1)
    assert store.fail(old, "p0", "bad", max_failures=1) is ParagraphState.WAITING
    assert store.save(new, "p0", a_result(), seconds=1)


# Not heard of.


def test_who_is_not_heard_of_loses_its_stretch_and_can_save_nothing(store_url: str, store: JobStore) -> None:
    begin(store, 5)
    with JobStore(store_url, lease_seconds=0) as forgetful:
        slow = claimed(forgetful, FAR)
    quick = claimed(store, JobWorker.here())
    assert quick.number == slow.number
    assert not store.save(slow, "p0", a_result("slow"), seconds=1)
    assert store.fail(slow, "p0", "bad", max_failures=1) is ParagraphState.WAITING
    assert store.renew(FAR) == set()
    assert store.save(quick, "p0", a_result("quick"), seconds=1)
    assert next(store.rows("j")).text == "quick"


def test_who_is_heard_of_keeps_its_stretch(store_url: str, store: JobStore) -> None:
    begin(store, 5)
    with JobStore(store_url, lease_seconds=0) as forgetful:
        claimed(forgetful, FAR)
    assert store.renew(FAR) == {("j", 0)}
    assert store.claim("j", JobWorker.here()) is None


def test_a_running_process_keeps_its_stretch_when_the_clock_jumps_over_its_lease(
    store_url: str, store: JobStore
) -> None:
    """It renews its lease within seconds; until then its paragraph would be requested twice."""
    begin(store, 5)
    working = JobWorker.here()
    with JobStore(store_url, lease_seconds=0) as forgetful:
        claimed(forgetful, working)
    assert store.claim("j", JobWorker.here()) is None
    assert store.renew(working) == {("j", 0)}


def test_a_running_process_that_stays_late_loses_its_stretch(store_url: str, store: JobStore) -> None:
    begin(store, 5)
    with JobStore(store_url, lease_seconds=0) as forgetful:
        claimed(forgetful, JobWorker.here())
    with JobStore(store_url, lease_seconds=0.2) as impatient:
        first = impatient.claim("j", other := JobWorker.here())
        assert first is None
        while (stretch := impatient.claim("j", other)) is None:
            pass
    assert stretch.number == 0


def test_a_late_worker_keeps_what_nobody_took(store_url: str, store: JobStore) -> None:
    """After a suspend the results of a worker are still accepted."""
    begin(store, 5)
    with JobStore(store_url, lease_seconds=0) as forgetful:
        stretch = claimed(forgetful, FAR)
        assert forgetful.save(stretch, "p0", a_result(), seconds=1)


# Dead.


@pytest.mark.subprocess
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_process_has_ended_once_it_is_killed_or_its_number_is_anothers() -> None:
    with process("-c", "input()") as running:
        worker = worker_of(running.pid)
        assert not has_ended(worker)
        assert has_ended(replace(worker, started="1"))
        assert not has_ended(replace(worker, started="1", host="another machine"))
        running.kill()
        os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
        assert has_ended(worker)  # a zombie, not yet reaped
        running.wait()
        assert has_ended(worker)
    assert not has_ended(JobWorker.here())


@pytest.mark.subprocess
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_what_a_dead_process_of_this_machine_held_is_taken_at_once(store: JobStore, worker: JobWorker) -> None:
    begin(store, 5)
    with process("-c", "input()") as running:
        held = claimed(store, worker_of(running.pid))
        assert store.claim("j", worker) is None
        running.kill()
        running.wait()
    assert claimed(store, worker).number == held.number


@pytest.mark.subprocess
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_processes_share_a_job_and_one_is_killed(store_url: str, store: JobStore) -> None:
    begin(store, 60)
    with process(*hand(store_url, "7")) as victim:
        assert victim.stdout
        done = [victim.stdout.readline().strip() for _ in range(7)]
        with process(*hand(store_url)) as first, process(*hand(store_url)) as second:
            _until(lambda: store.counts("j").waiting == 3)  # those of the killed worker
            victim.kill()
            victim.wait()
            for running in (first, second):
                done += running.communicate(timeout=300)[0].split()
                assert running.returncode == 0
    assert sorted(done) == sorted(row.id for row in a_plan(60))  # each once
    assert (store.counts("j").edited, store.counts("j").waiting) == (60, 0)
    with store._database.read_transaction() as connection:
        assert connection.scalar(select(func.count()).select_from(results)) == 60


def _until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)

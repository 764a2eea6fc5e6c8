"""Names of a client are looked up in a process that is given up, and never hold up other jobs."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.scheduler.names_reader import NamesReader
from serve.scheduler.scheduler import JobScheduler
from tests.ape.review.conftest import fill

TABLE = "source,target\nAnne,Anna\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    with JobStore(str(tmp_path / "jobs.sqlite")) as store:
        yield store


@pytest.fixture
def job(store: JobStore, tmp_path: Path) -> Job:
    name = uuid.uuid4().hex
    fill(store, id=name, owner="", output=tmp_path / "out.txt")
    return store.job(name)


@pytest.mark.subprocess
async def test_names_are_read_within_a_time(store: JobStore, job: Job, service_settings: Settings) -> None:
    names = await NamesReader(store.url, service_settings).read(job, TABLE, "names.csv")
    assert [one.target for one in names.ledger.entities] == ["Anna"]
    hurried = service_settings.model_copy(update={"plan_seconds": 0.001})
    with pytest.raises(InputError, match="take too long"):
        await NamesReader(store.url, hurried).read(job, TABLE, "names.csv")


async def test_a_long_change_of_one_job_holds_up_no_other(store: JobStore, service_settings: Settings) -> None:
    scheduler = JobScheduler(store, _NoEngine(), service_settings)  # type: ignore[arg-type]
    end = threading.Event()
    slow = asyncio.create_task(scheduler._with_state_lock("a", lambda: end.wait(60)))
    same = asyncio.create_task(scheduler._with_state_lock("a", lambda: True))
    await asyncio.sleep(0)
    try:
        assert await asyncio.wait_for(scheduler._with_state_lock("b", lambda: True), 30)
        assert not slow.done()
        assert not same.done()
    finally:
        end.set()
    assert await slow
    assert await same


class _NoEngine:
    """Stands for the engine where none is asked."""

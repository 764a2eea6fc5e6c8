"""A book that takes too long to read is given up, and never holds up the books of others."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest

from ape.engines.protocol import Model
from ape.jobs.job import JobRecipe
from ape.jobs.job_files import JobFiles
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.scheduler.book_planner import BookPlan, BookPlanner
from tests.scripted import ScriptedServer
from tests.serve.book_library import LANGUAGES, files, service, settings_in, uploaded_files
from tests.serve.hanging_plan import HANGING, hang_on_one

Until = Callable[..., Awaitable[None]]
KEYS = ("one-key", "another-key")


@pytest.fixture(autouse=True)
def _one_book_hangs(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serve.scheduler.book_planner._plan", hang_on_one)


@pytest.fixture
def settings(service_settings: Settings, tmp_path: Path) -> Settings:
    return settings_in(service_settings, tmp_path)


def readers() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.name == "book" and child.pid]


def hanging_book() -> dict[str, tuple[str, bytes]]:
    return {name: (HANGING, content) for name, (_, content) in files().items()}


def test_a_book_is_given_up_when_its_time_is_over(settings: Settings) -> None:
    limited = settings.model_copy(update={"plan_seconds": 0.5})
    with service(limited) as client:
        response = client.post("/v1/books", files=hanging_book(), data=LANGUAGES)
    assert (response.status_code, response.json()["field"]) == (422, "mt")
    assert "within 0.5 seconds" in response.json()["detail"]
    assert (readers(), uploaded_files(settings)) == ([], [])


async def test_a_book_that_hangs_does_not_hold_up_those_of_others(settings: Settings, until: Until) -> None:
    keyed = Settings.model_validate(settings.model_dump() | {"api_keys": ",".join(KEYS)})
    hostile, honest = ({"Authorization": f"Bearer {key}"} for key in KEYS)
    with service(keyed) as client:
        async with httpx2.AsyncClient(base_url=client.base_url, timeout=300) as other:
            hanging = [
                asyncio.create_task(other.post("/v1/books", files=hanging_book(), data=LANGUAGES, headers=hostile))
                for _ in range(6)
            ]
            await until(readers)
            response = await other.post("/v1/books", files=files(), data=LANGUAGES, headers=honest)
            assert response.status_code == 201, response.text
            assert len(readers()) == 1  # of each key one at a time
            for task in hanging:
                task.cancel()
            await asyncio.wait(hanging)
            await until(lambda: not readers())
    with JobStore(settings.jobs_url) as store:
        assert [job.id for job in store.jobs()] == [response.json()["id"]]


async def test_a_planner_that_closes_gives_up_a_book_that_hangs(settings: Settings, until: Until) -> None:
    planner = BookPlanner(settings.jobs_url, settings)
    here = Path("missing.txt")
    plan = BookPlan("a" * 32, JobFiles(here, here), here, JobRecipe(), Model("m"), engine="m", name=HANGING, owner="")
    planning = asyncio.create_task(planner.plan(plan))
    await until(readers)
    planner.close()
    with pytest.raises(asyncio.CancelledError):
        await planning
    assert readers() == []

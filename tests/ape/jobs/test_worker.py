"""Working on a job: order and context, failures, stopping, and requests that are sent once only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ape.engines.client import OpenAIEngine
from ape.engines.protocol import Model
from ape.engines.retry import RetryPolicy
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import ParagraphState, PlannedParagraph
from ape.jobs.model_check import ModelChanged
from ape.jobs.store import JobStore
from ape.jobs.stretch_editor import EngineOutage
from ape.jobs.worker import JobStep, work_on_job
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from prompts import CHAT
from tests.scripted import Fail, Hang, Move, Say, ScriptedServer, translation_in

RECIPE = JobRecipe("scripted", "", CHAT.fingerprint, "fr", "en", context=2)
WRONG, RIGHT = "It makes cold tonight", "It is cold tonight"


def planned(number: int, *, stretch: int = 0, chapter: int = 0, skip: str = "") -> PlannedParagraph:
    source, mt = f"Il fait froid ce soir, numéro {number}.", f"{WRONG}, number {number}."
    return PlannedParagraph(
        id=f"c{chapter}#{number}",
        position=number,
        chapter=chapter,
        title=f"Chapter {chapter}",
        stretch=stretch,
        source=source,
        mt=mt,
        skip=skip,
        fingerprint=RECIPE.fingerprint(source, mt),
    )


def mend(request: dict[str, Any], turn: int) -> Move:
    """A model that makes a single correction."""
    return Say(translation_in(request).replace(WRONG, RIGHT))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    with JobStore(str(tmp_path / "jobs.sqlite")) as opened:
        yield opened


@pytest.fixture
async def engine(scripted: ScriptedServer) -> AsyncIterator[OpenAIEngine]:
    scripted.script = mend
    retry = RetryPolicy(attempts=1, total_seconds=5)
    async with OpenAIEngine(scripted.url, api_key="k", concurrency=16, retry=retry) as opened:
        yield opened


def begin(store: JobStore, rows: list[PlannedParagraph]) -> Job:
    now = datetime.now(UTC)
    job = Job("j", "", "book", "", "", "", "", "", "txt", RECIPE, JobState.RUNNING, now, now)
    store.add(job)
    store.plan("j", rows)
    return job


def requested_texts(scripted: ScriptedServer) -> list[str]:
    return [translation_in(request) for request in scripted.requests]


async def test_every_paragraph_is_done_once_and_in_its_place(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    rows = [planned(number, stretch=number // 5, chapter=number // 10) for number in range(30)]
    steps: list[JobStep] = []
    state = await work_on_job(store, begin(store, rows), engine, concurrency=4, listen=steps.append)
    assert state is JobState.DONE
    assert len(scripted.requests) == len(steps) == 30
    assert [row.text for row in store.rows("j")] == [f"{RIGHT}, number {number}." for number in range(30)]


async def test_the_paragraphs_before_are_shown_as_edited_and_before_a_stretch_as_they_were(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    job = begin(store, [planned(number, stretch=number // 3) for number in range(6)])
    await work_on_job(store, job, engine, concurrency=2)
    prompts = {
        translation_in(request)[-2]: request["messages"][-1]["content"].partition("<source>")[0]
        for request in scripted.requests
    }
    assert "earlier" not in prompts["0"]
    assert f"{RIGHT}, number 0." in prompts["2"]
    assert f"{RIGHT}, number 1." in prompts["2"]
    assert f"{WRONG}, number 2." in prompts["3"]
    assert f"{RIGHT}, number 3." in prompts["4"]
    assert f"{WRONG}, number 2." in prompts["4"]


async def test_what_is_not_to_be_edited_is_not_asked_about(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    job = begin(store, [planned(0), planned(1, skip="code"), planned(2)])
    await work_on_job(store, job, engine, concurrency=1)
    assert len(scripted.requests) == 2
    assert store.counts("j").skipped == 1


async def test_a_paragraph_that_always_fails_is_given_up_and_the_book_goes_on(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    def poisoned(request: dict[str, Any], turn: int) -> Move:
        return Fail(500) if "number 3." in translation_in(request) else mend(request, turn)

    scripted.script = poisoned
    job = begin(store, [planned(number) for number in range(6)])
    steps: list[JobStep] = []
    assert await work_on_job(store, job, engine, concurrency=1, max_failures=3, listen=steps.append) is JobState.DONE
    assert [row.planned.id for row in store.rows("j", state=ParagraphState.QUARANTINED)] == ["c0#3"]
    assert sum("number 3." in one for one in requested_texts(scripted)) == 3
    assert [step.paragraph.planned.id for step in steps if step.failure] == ["c0#3"]
    assert store.counts("j").done == 5

    scripted.script = mend
    scripted.requests.clear()
    assert store.redo("j", quarantined=True) == 1
    assert await work_on_job(store, job, engine, concurrency=1) is JobState.DONE
    assert len(scripted.requests) == 1
    assert store.counts("j").done == 6


async def test_a_server_that_fails_on_everything_stops_the_job_and_condemns_no_paragraph(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    scripted.play(Fail(500))
    job = begin(store, [planned(number, stretch=number) for number in range(40)])
    with pytest.raises(EngineOutage, match="in a row"):
        await work_on_job(store, job, engine, concurrency=2)
    counts = store.counts("j")
    assert (counts.waiting, counts.quarantined) == (40, 0)


async def test_a_server_that_answers_nothing_at_the_end_is_not_taken_for_bad_paragraphs(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    scripted.play(Fail(503))  # its list of models still comes, as from a proxy whose model is gone
    job = begin(store, [planned(number) for number in range(2)])
    with pytest.raises(EngineOutage, match="no longer answers"):
        await work_on_job(store, job, engine, concurrency=1)
    assert store.counts("j").waiting == 2


async def test_bad_paragraphs_at_the_end_are_given_up_where_the_server_answers_other_questions(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    scripted.script = lambda request, turn: Fail(503) if "number" in translation_in(request) else mend(request, turn)
    job = begin(store, [planned(number) for number in range(2)])
    assert await work_on_job(store, job, engine, concurrency=1) is JobState.DONE
    assert store.counts("j").quarantined == 2


async def test_a_model_that_is_no_longer_served_stops_the_job_and_condemns_no_paragraph(
    store: JobStore, engine: OpenAIEngine
) -> None:
    job = begin(store, [planned(number) for number in range(3)])
    other = replace(job, recipe=replace(RECIPE, model="unloaded"))
    with pytest.raises(ModelChanged, match="unloaded"):
        await work_on_job(store, other, engine, concurrency=1)
    assert store.counts("j").waiting == 3


async def test_a_paragraph_too_long_for_the_model_is_given_up_at_once_with_the_reason(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    rows = [planned(0), planned(1)]
    unreadable = PlannedParagraph(**{**_fields(rows[1]), "mt": "Broken \x01 letters.", "fingerprint": "other"})
    job = begin(store, [rows[0], unreadable])
    assert await work_on_job(store, job, engine, concurrency=1) is JobState.DONE
    given_up = list(store.rows("j", state=ParagraphState.QUARANTINED))
    assert "U+0001" in given_up[0].reason
    assert given_up[0].failures == 1


def _fields(row: PlannedParagraph) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


async def test_a_fault_of_our_own_costs_one_paragraph_and_not_the_book(
    store: JobStore, engine: OpenAIEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(segment: Segment, draft: Draft) -> tuple[Finding, ...]:
        if "number 1." in segment.mt:
            raise RecursionError("too deep")
        return ()

    monkeypatch.setattr("ape.post_editor.check_draft", broken)
    job = begin(store, [planned(number) for number in range(3)])
    assert await work_on_job(store, job, engine, concurrency=1) is JobState.DONE
    given_up = list(store.rows("j", state=ParagraphState.QUARANTINED))
    assert [row.planned.id for row in given_up] == ["c0#1"]
    assert "RecursionError" in given_up[0].reason


async def test_whoever_stops_the_work_over_a_dead_server_condemns_no_paragraph(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer, until: Callable[..., Awaitable[None]]
) -> None:
    scripted.script = lambda request, turn: Fail(503) if turn < 4 else Hang()
    job = begin(store, [planned(number) for number in range(5)])
    work = asyncio.create_task(work_on_job(store, job, engine, concurrency=1, max_failures=2))
    await until(lambda: len(scripted.requests) == 5)
    assert store.counts("j").quarantined == 2
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert store.counts("j").waiting == 5


async def test_pausing_stops_the_work_in_hand_and_it_goes_on_later(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer, until: Callable[..., Awaitable[None]]
) -> None:
    scripted.script = lambda request, turn: mend(request, turn) if turn < 2 else Hang()
    job = begin(store, [planned(number) for number in range(5)])
    work = asyncio.create_task(work_on_job(store, job, engine, concurrency=1))
    await until(lambda: len(scripted.requests) == 3)
    store.update("j", state=JobState.PAUSED)
    assert await work is JobState.PAUSED
    assert store.counts("j").done == 2

    scripted.script = mend
    job = store.update("j", state=JobState.RUNNING)
    assert await work_on_job(store, job, engine, concurrency=1) is JobState.DONE
    texts = requested_texts(scripted)
    assert len([one for one in texts if "number 0." in one]) == 1
    assert store.counts("j").done == 5


async def test_a_cancelled_call_leaves_what_was_finished_and_nobody_waits_for_its_leases(
    store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer, until: Callable[..., Awaitable[None]]
) -> None:
    scripted.script = lambda request, turn: mend(request, turn) if turn < 3 else Hang()
    job = begin(store, [planned(number) for number in range(5)])
    work = asyncio.create_task(work_on_job(store, job, engine, concurrency=1))
    await until(lambda: len(scripted.requests) == 4)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert store.counts("j").done == 3
    scripted.script = mend
    assert await work_on_job(store, job, engine, concurrency=3) is JobState.DONE
    assert store.counts("j").done == 5


async def test_two_crews_on_one_job_ask_for_nothing_twice(
    tmp_path: Path, store: JobStore, engine: OpenAIEngine, scripted: ScriptedServer
) -> None:
    job = begin(store, [planned(number, stretch=number // 4) for number in range(40)])
    with JobStore(str(tmp_path / "jobs.sqlite")) as other:
        states = await asyncio.gather(
            work_on_job(store, job, engine, concurrency=3), work_on_job(other, job, engine, concurrency=3)
        )
    assert set(states) == {JobState.DONE}
    assert len(scripted.requests) == len(set(requested_texts(scripted))) == 40


class UntunedPair(OpenAIEngine):
    """A server whose model was tuned for another language pair."""

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        yield Model("scripted", languages=("zh-en",))


async def test_a_warning_about_the_model_is_kept_under_the_first_paragraph_alone(
    store: JobStore, scripted: ScriptedServer
) -> None:
    scripted.script = mend
    job = begin(store, [planned(number) for number in range(3)])
    async with UntunedPair(scripted.url, api_key="k") as engine:
        await work_on_job(store, job, engine, concurrency=1)
    warned = [[one.guard for one in row.result.findings] for row in store.rows("j") if row.result]
    assert warned == [["languages"], [], []]

"""Concurrency is shared between owners, and a closed book engine starts no new paragraphs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ape.engines import EngineHealth, Model, Reply, Sampling
from ape.errors import UnknownModel
from ape.jobs.job import Job, JobRecipe, JobState
from ape.passage.events import Listener
from ape.settings import Settings
from prompts import Prompt, prompt_format
from serve.scheduler.concurrency import BookEngine, FairConcurrencyLimit, book_concurrency

Until = Callable[..., Awaitable[None]]


class OneModel:
    """An engine that gets no requests."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.held = 0

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        if name != self.model.name:
            raise UnknownModel(f"No model is called {name!r} here.")
        self.held += 1
        try:
            yield self.model
        finally:
            self.held -= 1

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        raise NotImplementedError

    async def count(self, text: str) -> int | None:
        return None

    async def models(self) -> tuple[Model, ...]:
        return (self.model,)

    def health(self) -> EngineHealth:
        return EngineHealth("up")


MODEL = Model("par3", revision="one")


def job(owner: str = "anna", *, model: Model = MODEL, candidates: int = 1) -> Job:
    recipe = JobRecipe(
        model.name, model.revision, prompt_format(model.format).fingerprint, "fr", "en", candidates=candidates
    )
    now = datetime.now(UTC)
    return Job("1", owner, "b", "s", "", "m", "", "o", "txt", recipe, JobState.RUNNING, now, now)


async def hold(limit: FairConcurrencyLimit, owner: str, order: list[str], go: asyncio.Event, cost: int = 1) -> None:
    async with limit.acquire(owner, cost):
        order.append(owner)
        await go.wait()


async def stop(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_no_more_than_the_limit_is_held(until: Until) -> None:
    limit, order, go = FairConcurrencyLimit(3), [], asyncio.Event()  # type: ignore[var-annotated]
    tasks = [asyncio.create_task(hold(limit, "anna", order, go)) for _ in range(10)]
    await until(lambda: len(order) == 3)
    assert limit.free == 0
    go.set()
    await asyncio.gather(*tasks)
    assert (len(order), limit.free) == (10, 3)


async def test_who_comes_later_with_less_is_next(until: Until) -> None:
    limit, order = FairConcurrencyLimit(2), []  # type: ignore[var-annotated]
    gone = [asyncio.Event() for _ in range(7)]
    owners = ["anna"] * 5 + ["boris"] * 2
    tasks = []
    for owner, go in zip(owners, gone, strict=True):
        tasks.append(asyncio.create_task(hold(limit, owner, order, go)))
        await asyncio.sleep(0)
    assert order == ["anna", "anna"]
    gone[0].set()
    await until(lambda: len(order) == 3)
    assert order[-1] == "boris"
    gone[1].set()
    await until(lambda: len(order) == 4)
    assert order[-1] == "anna"  # one each
    await stop(*tasks)
    assert limit.free == 2


async def test_a_dear_one_is_not_passed_for_ever(until: Until) -> None:
    limit, order, go = FairConcurrencyLimit(4), [], asyncio.Event()  # type: ignore[var-annotated]
    first = asyncio.create_task(hold(limit, "anna", order, go))
    await until(lambda: order == ["anna"])
    dear = asyncio.create_task(hold(limit, "boris", order, asyncio.Event(), cost=4))
    await asyncio.sleep(0)
    others = [asyncio.create_task(hold(limit, "anna", order, asyncio.Event())) for _ in range(3)]
    await asyncio.sleep(0)
    assert order == ["anna"]
    go.set()
    await until(lambda: order == ["anna", "boris"])
    await stop(first, dear, *others)
    assert limit.free == 4


async def test_who_leaves_the_line_gives_way(until: Until) -> None:
    limit, order = FairConcurrencyLimit(2), []  # type: ignore[var-annotated]
    held = asyncio.create_task(hold(limit, "anna", order, asyncio.Event()))
    await until(lambda: order)
    dear = asyncio.create_task(hold(limit, "boris", order, asyncio.Event(), cost=9))
    await asyncio.sleep(0)
    cheap = asyncio.create_task(hold(limit, "clara", order, asyncio.Event()))
    await asyncio.sleep(0)
    await stop(dear)
    await until(lambda: order == ["anna", "clara"])
    await stop(held, cheap)
    assert limit.free == 2


async def test_one_let_in_and_cancelled_in_the_same_moment_takes_no_place() -> None:
    limit = FairConcurrencyLimit(1)
    async with limit.acquire("anna", 1):
        second = asyncio.create_task(hold(limit, "boris", [], asyncio.Event()))
        await asyncio.sleep(0)
    assert limit.free == 0  # boris was admitted, but has not run yet
    await stop(second)
    assert limit.free == 1


async def test_the_model_is_held_while_a_paragraph_is_in_progress() -> None:
    engine, limit = OneModel(MODEL), FairConcurrencyLimit(4)
    book = BookEngine(engine, limit, job(candidates=3))
    assert book.concurrency == 1
    async with book.using("par3") as model:
        assert (model, engine.held, limit.free, book.active_paragraphs) == (MODEL, 1, 1, 1)
    assert (engine.held, limit.free, book.active_paragraphs) == (0, 4, 0)


async def test_a_closed_engine_finishes_active_paragraphs_and_starts_none(until: Until) -> None:
    limit, order = FairConcurrencyLimit(1), []
    book = BookEngine(OneModel(MODEL), limit, job())

    async def paragraph() -> None:
        async with book.using("par3"):
            order.append(1)

    async with book.using("par3"):
        book.close()
        idle = asyncio.create_task(book.wait_until_idle())
        later = asyncio.create_task(paragraph())
        await asyncio.sleep(0)
        assert not idle.done()
    await idle
    await until(lambda: limit.free == 1)  # the unit is free for others
    assert order == []
    await stop(later)


@pytest.mark.parametrize(
    ("values", "limit"),
    [
        ({"engine": "embedded", "slots": 4}, 2),
        ({"engine": "embedded", "slots": 1}, 1),
        ({"engine": "url", "url": "http://h/v1"}, 4),
        ({"engine": "vllm", "model": "m"}, 32),
        ({"engine": "vllm", "model": "m", "in_flight": 10}, 5),
        ({"engine": "embedded", "book_lanes": 7}, 7),
    ],
)
def test_half_of_the_engine_is_for_books(values: dict[str, Any], limit: int) -> None:
    assert book_concurrency(Settings(cache=Path(), **values)) == limit

"""Many clients at once on the real embedded engine, of which a third hang up: what came back, and what is left behind.

python -m tests.serve.soak --requests 2000
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from ape.engines.embedded import EmbeddedEngine, embedded_engine
from ape.settings import Settings
from serve.app import create_app
from serve.middleware.admission import AdmissionLimit
from tests.scripted import running

T = TypeVar("T")
IN_FLIGHT = 32
# Fewer than are in flight, so that some are told to come again.
ROOM = 24
SLOTS = 4
SENTENCES = (
    ("Il pleut.", "It rains."),
    ("Elle rit.", "She laugh."),
    ("Le chat dort.", "The cat sleep."),
    ("Il part demain.", "He leave tomorrow."),
)


@dataclass(frozen=True, slots=True)
class Left:
    """What the process holds: with nothing under way it should come back to the same."""

    busy_slots: int
    held: int
    tasks: int
    threads: int
    descriptors: int
    megabytes: float


@dataclass
class House:
    """The service in this process, and a way to look inside."""

    address: str = ""
    queue: AdmissionLimit = field(default_factory=lambda: AdmissionLimit(0))
    engine: EmbeddedEngine | None = None
    loop: asyncio.AbstractEventLoop | None = None

    def inside(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something in the loop of the service."""
        assert self.loop
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def look(self) -> Left:
        assert self.engine
        engine = self.engine

        async def look() -> tuple[int, int]:
            return await engine.busy(), len(asyncio.all_tasks())

        busy, tasks = self.inside(look())
        gc.collect()
        return Left(
            busy_slots=busy,
            held=self.queue.admitted,
            tasks=tasks - 1,  # this look is one
            threads=_threads(),
            descriptors=len(list(Path("/proc/self/fd").iterdir())),
            megabytes=_resident_megabytes(),
        )

    def settle(self, *, threads: int = 0, seconds: float = 60.0) -> Left:
        """Look until all is idle and no more than so many threads are left, if that is asked, or time is over."""
        deadline = time.monotonic() + seconds
        while True:
            left = self.look()
            idle = not left.busy_slots and not left.held and (not threads or left.threads <= threads)
            if idle or time.monotonic() > deadline:
                return left
            time.sleep(0.1)


def _threads() -> int:
    """All threads but those of the event loops' own pools, which grow to their limit when they like and stay."""
    pooled = sum(thread.name.startswith("asyncio_") for thread in threading.enumerate())
    return len(list(Path("/proc/self/task").iterdir())) - pooled


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def house(model: Path, cache: Path) -> Iterator[House]:
    """The service on a real socket, on the embedded engine."""
    settings = Settings(cache=cache, max_queue=ROOM)
    opened = House()

    @asynccontextmanager
    async def engine() -> AsyncIterator[EmbeddedEngine]:
        async with embedded_engine(model, name="smollm2", concurrency=SLOTS, window=1024) as engine:
            opened.engine, opened.loop = engine, asyncio.get_running_loop()
            yield engine

    app = create_app(settings, engine())
    opened.queue = app.state.queue
    with running(app) as opened.address:
        yield opened


@dataclass(frozen=True, slots=True)
class Plan:
    """What one client does: asks by a stream or not, and leaves after so many seconds, if it does."""

    passage: dict[str, Any]
    streams: bool
    leaves_after: float | None


def plans(count: int, seed: int) -> list[Plan]:
    """About a third of the clients leave: at once, while they wait, or in the middle of the answer."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        source, mt = chance.choice(SENTENCES)
        passage = {"source": source, "mt": mt, "source_language": "fr", "target_language": "en"}
        leaves = chance.random() < 1 / 3
        made.append(
            Plan(
                passage | {"max_attempts": 1, "temperature": 1.0, "top_p": 0.9, "seed": number},
                streams=chance.random() < 0.4,
                leaves_after=chance.choice([0.0, 0.05, 0.3, 1.0, 3.0]) * chance.random() if leaves else None,
            )
        )
    return made


async def play(address: str, todo: list[Plan]) -> Counter[str]:
    """Let the clients loose, so many at a time, and count what becomes of them."""
    outcomes: Counter[str] = Counter()
    waiting = iter(todo)
    async with httpx2.AsyncClient(
        base_url=address, timeout=300, limits=httpx2.Limits(max_connections=None)
    ) as client:

        async def one_after_another() -> None:
            for plan in waiting:
                await _visit(client, plan, outcomes)

        await asyncio.gather(*(one_after_another() for _ in range(IN_FLIGHT)))
    return outcomes


async def _visit(client: httpx2.AsyncClient, plan: Plan, outcomes: Counter[str]) -> None:
    ask = _ask_by_stream if plan.streams else _ask
    try:
        async with asyncio.timeout(plan.leaves_after):
            while (answer := await ask(client, plan.passage)).startswith("429"):
                outcomes["told to come again"] += 1
                await asyncio.sleep(float(answer.removeprefix("429 ")))
        outcomes[answer] += 1
    except TimeoutError:
        outcomes["left"] += 1


async def _ask(client: httpx2.AsyncClient, passage: dict[str, Any]) -> str:
    response = await client.post("/v1/post-edit", json=passage)
    if response.status_code == 429:
        return f"429 {response.headers['Retry-After']}"
    return str(response.json().get("decision") or f"{response.status_code} {response.text}")


async def _ask_by_stream(client: httpx2.AsyncClient, passage: dict[str, Any]) -> str:
    accept = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/v1/post-edit", json=passage, headers=accept) as response:
        if response.status_code == 429:
            return f"429 {response.headers['Retry-After']}"
        name, answer = "", f"{response.status_code} without a result"
        async for line in response.aiter_lines():
            name = line.removeprefix("event: ") if line.startswith("event: ") else name
            if name in ("result", "error") and line.startswith("data: "):
                result = json.loads(line.removeprefix("data: "))
                answer = str(result.get("decision") or result)
        return answer if name == "end" else f"a stream that ended with {name}"


def main() -> None:
    """Play with numbers for a human."""
    from ape.models import DEFAULT_MODEL, resolve_model
    from ape.settings import load_settings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=4, help="the requests come in so many parts")
    given = parser.parse_args()
    settings = load_settings()
    path = resolve_model(settings.model or DEFAULT_MODEL, cache=settings.cache)
    with house(path, settings.cache) as opened:
        asyncio.run(play(opened.address, plans(IN_FLIGHT, seed=0)))
        print("warmed up", opened.settle())
        for number in range(1, given.rounds + 1):
            began = time.perf_counter()
            outcomes = asyncio.run(play(opened.address, plans(given.requests // given.rounds, seed=number)))
            left = opened.settle()
            print(f"{number:3} {time.perf_counter() - began:6.1f} s {dict(outcomes)}\n    {left}")


if __name__ == "__main__":
    main()

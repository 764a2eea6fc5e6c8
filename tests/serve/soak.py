"""Load the embedded engine with concurrent clients, a third of which disconnect, and check for resource leaks.

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
CONCURRENCY = 32
# Less than CONCURRENCY, so that some get a 429.
QUEUE_CAPACITY = 24
ENGINE_CONCURRENCY = 4
SENTENCES = (
    ("Il pleut.", "It rains."),
    ("Elle rit.", "She laugh."),
    ("Le chat dort.", "The cat sleep."),
    ("Il part demain.", "He leave tomorrow."),
)


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources held by the process; when idle they should return to the same values."""

    busy_slots: int
    held: int
    tasks: int
    threads: int
    descriptors: int
    megabytes: float


@dataclass
class SoakService:
    """The service in this process, with access to its internals."""

    address: str = ""
    queue: AdmissionLimit = field(default_factory=lambda: AdmissionLimit(0))
    engine: EmbeddedEngine | None = None
    loop: asyncio.AbstractEventLoop | None = None

    def run_in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the event loop of the service."""
        assert self.loop
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    def measure(self) -> Resources:
        assert self.engine
        engine = self.engine

        async def look() -> tuple[int, int]:
            return await engine.busy(), len(asyncio.all_tasks())

        busy, tasks = self.run_in_loop(look())
        gc.collect()
        return Resources(
            busy_slots=busy,
            held=self.queue.admitted,
            tasks=tasks - 1,  # without this measurement
            threads=_threads(),
            descriptors=len(list(Path("/proc/self/fd").iterdir())),
            megabytes=_resident_megabytes(),
        )

    def settle(self, *, threads: int = 0, seconds: float = 60.0) -> Resources:
        """Measure until idle with at most `threads` threads (0: any number), or until the timeout."""
        deadline = time.monotonic() + seconds
        while True:
            left = self.measure()
            idle = not left.busy_slots and not left.held and (not threads or left.threads <= threads)
            if idle or time.monotonic() > deadline:
                return left
            time.sleep(0.1)


def _threads() -> int:
    """Count threads, without the pools of the event loops, which grow to their limit and stay."""
    pooled = sum(thread.name.startswith("asyncio_") for thread in threading.enumerate())
    return len(list(Path("/proc/self/task").iterdir())) - pooled


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def soak_service(model: Path, cache: Path) -> Iterator[SoakService]:
    """Run the service with the embedded engine on a socket."""
    settings = Settings(cache=cache, max_queue=QUEUE_CAPACITY)
    service = SoakService()

    @asynccontextmanager
    async def engine() -> AsyncIterator[EmbeddedEngine]:
        async with embedded_engine(model, name="smollm2", concurrency=ENGINE_CONCURRENCY, window=1024) as engine:
            service.engine, service.loop = engine, asyncio.get_running_loop()
            yield engine

    app = create_app(settings, engine())
    service.queue = app.state.queue
    with running(app) as service.address:
        yield service


@dataclass(frozen=True, slots=True)
class Plan:
    """One client: its passage, whether it streams, and after how many seconds it disconnects."""

    passage: dict[str, Any]
    streams: bool
    leaves_after: float | None


def plans(count: int, seed: int) -> list[Plan]:
    """Plan clients; about a third disconnect: immediately, while waiting, or in mid-answer."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        source, mt = rng.choice(SENTENCES)
        passage = {"source": source, "mt": mt, "source_language": "fr", "target_language": "en"}
        leaves = rng.random() < 1 / 3
        made.append(
            Plan(
                passage | {"max_attempts": 1, "temperature": 1.0, "top_p": 0.9, "seed": number},
                streams=rng.random() < 0.4,
                leaves_after=rng.choice([0.0, 0.05, 0.3, 1.0, 3.0]) * rng.random() if leaves else None,
            )
        )
    return made


async def play(address: str, todo: list[Plan]) -> Counter[str]:
    """Run the clients, CONCURRENCY at a time, and count their outcomes."""
    outcomes: Counter[str] = Counter()
    waiting = iter(todo)
    async with httpx2.AsyncClient(base_url=address, timeout=300, limits=httpx2.Limits(max_connections=None)) as client:

        async def run_client() -> None:
            for plan in waiting:
                await _run_plan(client, plan, outcomes)

        await asyncio.gather(*(run_client() for _ in range(CONCURRENCY)))
    return outcomes


async def _run_plan(client: httpx2.AsyncClient, plan: Plan, outcomes: Counter[str]) -> None:
    ask = _ask_by_stream if plan.streams else _ask
    try:
        async with asyncio.timeout(plan.leaves_after):
            while (answer := await ask(client, plan.passage)).startswith("429"):
                outcomes["retried after 429"] += 1
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
    """Run rounds of clients and print outcomes and resources."""
    from ape.models import DEFAULT_MODEL, resolve_model
    from ape.settings import load_settings

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=4, help="number of rounds the requests are split into")
    given = parser.parse_args()
    settings = load_settings()
    path = resolve_model(settings.model or DEFAULT_MODEL, cache=settings.cache)
    with soak_service(path, settings.cache) as service:
        asyncio.run(play(service.address, plans(CONCURRENCY, seed=0)))
        print("warmed up", service.settle())
        for number in range(1, given.rounds + 1):
            began = time.perf_counter()
            outcomes = asyncio.run(play(service.address, plans(given.requests // given.rounds, seed=number)))
            left = service.settle()
            print(f"{number:3} {time.perf_counter() - began:6.1f} s {dict(outcomes)}\n    {left}")


if __name__ == "__main__":
    main()

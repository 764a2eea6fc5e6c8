"""Overhead of the service: passages per second through it and directly to its engine.

How the comparison is kept fair:
- Two processes run, each as `ape serve` starts one: uvicorn, our service and the embedded engine in one process. One
  side posts passages to the service of one process. The other sends the numbers of the same passages to the other
  process, which asks its engine with their prompts, rendered before, and the same sampling. The direct side has no
  HTTP but that of llama.cpp, and no language detection, rendering, guards or edits.
- The load comes from a third process, this one.
- Both engines read the same prompts in the same order, so their prefix caches are in the same state. Sides swap
  processes from round to round, and alternate in starting a round.
- There is one attempt per passage, so both sides generate once. If a side reads other prompts, by their tokens, or
  generates 5% more or fewer tokens, no ratio is given: batching is not deterministic, so some drafts differ.
  The note has the ratio of the processor time of client and server, which other load on the machine hardly affects.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from statistics import median

import httpx2

from ape.passage.result import Usage
from benchmarks.claims import Claim
from benchmarks.concurrent_requests import run_concurrently
from benchmarks.sample_prompts import OPTIONS, BenchmarkPassage, recorded_passages
from benchmarks.service_process import ServiceProcess, start_service_process

# Concurrency: passages per round, and rounds. Rounds are short, so that other load disturbs both sides alike.
LOADS_BY_CONCURRENCY = {1: (3, 10), 4: (8, 10), 8: (16, 10), 32: (32, 10)}
QUICK = {2: (2, 1)}


@dataclass(frozen=True, slots=True)
class ServiceRun:
    """Passages per second, tokens read and written, and processor time of both ends."""

    rate: float
    prompt_tokens: int
    tokens: int
    processor_seconds: float


AskForPassage = Callable[[BenchmarkPassage], Awaitable[Usage]]
ServiceSide = Callable[[ServiceProcess], AbstractAsyncContextManager[AskForPassage]]


def measure(loads: Mapping[int, tuple[int, int]] = LOADS_BY_CONCURRENCY) -> list[Claim]:
    """Run both sides alternately at each concurrency."""
    with ExitStack() as stack:
        processes = [stack.enter_context(start_service_process()) for _ in range(2)]
        return asyncio.run(_measure(processes, loads))


async def _measure(processes: list[ServiceProcess], loads: Mapping[int, tuple[int, int]]) -> list[Claim]:
    texts = cycle(await recorded_passages(processes[0].format))
    for process in processes:
        for side in (ask_service, ask_engine):
            await run_passages(side, process, list(islice(texts, 2)), concurrency=1)
    return [await _compare_sides(processes, texts, concurrency, *plan) for concurrency, plan in loads.items()]


async def _compare_sides(
    processes: list[ServiceProcess], texts: Iterator[BenchmarkPassage], concurrency: int, count: int, times: int
) -> Claim:
    rounds: list[dict[ServiceSide, ServiceRun]] = []
    for number in range(times):
        chosen = list(islice(texts, count))
        sides: list[tuple[ServiceSide, ServiceProcess]] = [
            (ask_service, processes[number % 2]),
            (ask_engine, processes[1 - number % 2]),
        ]
        if number // 2 % 2:
            sides.reverse()
        rounds.append(
            {side: await run_passages(side, process, chosen, concurrency=concurrency) for side, process in sides}
        )
    rates = [f"{median(each[side].rate for each in rounds):.2f}" for side in (ask_service, ask_engine)]
    prompt_tokens, tokens, computed = (
        sum(getattr(each[ask_service], name) for each in rounds)
        / sum(getattr(each[ask_engine], name) for each in rounds)
        for name in ("prompt_tokens", "tokens", "processor_seconds")
    )
    return Claim(
        f"through the service / around it, {concurrency} in flight",
        tuple(each[ask_service].rate / each[ask_engine].rate for each in rounds),
        0.97,
        "at least",
        f"{' against '.join(rates)} passages a second; tokens {tokens:.2f}, processor time {computed:.2f}",
        tokens=tokens,
        prompt_tokens=prompt_tokens,
    )


async def run_passages(
    side: ServiceSide, process: ServiceProcess, chosen: list[BenchmarkPassage], *, concurrency: int
) -> ServiceRun:
    """Request the passages with this concurrency."""
    async with side(process) as ask:
        before = time.process_time() + process.processor_seconds()
        used, rate = await run_concurrently(chosen, ask, concurrency=concurrency)
        seconds = time.process_time() + process.processor_seconds() - before
        total = sum(used, Usage())
        return ServiceRun(rate, total.prompt_tokens, total.completion_tokens, seconds)


@asynccontextmanager
async def ask_service(process: ServiceProcess) -> AsyncIterator[AskForPassage]:
    """Post passages to the service."""
    async with httpx2.AsyncClient(base_url=process.service, timeout=600) as client:

        async def ask(passage: BenchmarkPassage) -> Usage:
            segment = passage.segment
            question = {
                "source": segment.source,
                "mt": segment.mt,
                "source_language": segment.source_language,
                "target_language": segment.target_language,
                "glossary": dict(segment.glossary),
                "max_attempts": OPTIONS.max_attempts,
            }
            response = await client.post("/v1/post-edit", json=question)
            response.raise_for_status()
            return Usage(**response.json()["usage"])

        yield ask


@asynccontextmanager
async def ask_engine(process: ServiceProcess) -> AsyncIterator[AskForPassage]:
    """Have the engine write drafts for the prompts of passages; connections are kept, as those to the service are."""
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(passage: BenchmarkPassage) -> Usage:
        reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", process.engine_port)
        writer.write(b"%d\n" % passage.number)
        answer = await reader.readline()
        idle.append((reader, writer))
        return Usage(**json.loads(answer))

    try:
        yield ask
    finally:
        for _, writer in idle:
            writer.close()
            await writer.wait_closed()

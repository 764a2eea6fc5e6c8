"""Overhead of the service: passages per second through it and directly to its engine.

How the comparison is kept fair:
- Two processes run, each as `ape serve` starts one: uvicorn, our service and the embedded engine in one process. One
  side posts passages to the service of one process. The other sends the same prompts, already rendered, directly to the
  engine of the other process, streamed, with the same `openai` client and sampling. The direct side has no language
  detection, rendering, guards, edits or second HTTP request.
- The load comes from a third process, this one. On the direct side it reads the token stream, as the service does.
- Both engines read the same prompts in the same order, so their prefix caches are in the same state. Sides swap
  processes from round to round, and alternate in starting a round.
- There is one attempt per passage, so both sides generate once; runaway drafts are cut off at the same length. Batching
  is not deterministic, so some drafts differ. The note has the ratio of generated tokens, and of the processor time of
  client and server, which other load on the machine hardly affects.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice
from statistics import median
from typing import Any

import httpx2
import openai

from ape.engines import EngineHealth, Model, Reply, Sampling
from ape.engines.embedded import EmbeddedEngine
from ape.passage.events import Listener
from ape.passage.options import Options
from ape.passage.result import Usage
from ape.passage.segment import Draft, Segment
from ape.post_editor import post_edit
from ape.sample import SAMPLES, load_sample
from ape.text.sentences import split_sentences
from benchmarks.claims import Claim
from benchmarks.concurrent_requests import run_concurrently
from benchmarks.service_process import ServiceProcess, start_service_process
from prompts import Prompt

# Concurrency: passages per round, and rounds. Rounds are short, so that other load disturbs both sides alike.
LOADS_BY_CONCURRENCY = {1: (2, 12), 4: (8, 6), 8: (16, 6)}
OPTIONS = Options(max_attempts=1)


@dataclass(frozen=True, slots=True)
class BenchmarkPassage:
    """A passage with its prompt and sampling."""

    segment: Segment
    prompt: Prompt
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class ServiceRun:
    """Passages per second, tokens written, and processor time of both ends."""

    rate: float
    tokens: int
    processor_seconds: float


AskForPassage = Callable[[BenchmarkPassage], Awaitable[int]]
ServiceSide = Callable[[ServiceProcess], AbstractAsyncContextManager[AskForPassage]]


def measure() -> list[Claim]:
    """Run both sides alternately at each concurrency."""
    with ExitStack() as stack:
        processes = [stack.enter_context(start_service_process()) for _ in range(2)]
        return asyncio.run(_measure(processes))


async def _measure(processes: list[ServiceProcess]) -> list[Claim]:
    texts = cycle([BenchmarkPassage(segment, *await prompt_and_sampling(segment)) for segment in sample_passages()])
    for process in processes:
        for side in (ask_service, ask_engine):
            await run_passages(side, process, list(islice(texts, 2)), concurrency=1)
    return [
        await _compare_sides(processes, texts, concurrency, *plan) for concurrency, plan in LOADS_BY_CONCURRENCY.items()
    ]


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
    tokens, computed = (
        sum(getattr(each[ask_service], name) for each in rounds)
        / sum(getattr(each[ask_engine], name) for each in rounds)
        for name in ("tokens", "processor_seconds")
    )
    return Claim(
        f"through the service / around it, {concurrency} in flight",
        tuple(each[ask_service].rate / each[ask_engine].rate for each in rounds),
        0.95,
        "at least",
        f"{' against '.join(rates)} passages a second; tokens {tokens:.2f}, processor time {computed:.2f}",
    )


def sample_passages() -> list[Segment]:
    """The first sentence of each paragraph of the sample chapters.

    The shorter a passage is, the larger is the share of the service in its time.
    """
    return [
        replace(segment, source=split_sentences(segment.source)[0].strip(), mt=split_sentences(segment.mt)[0].strip())
        for name in SAMPLES
        for segment in load_sample(name).segments()
    ]


async def run_passages(
    side: ServiceSide, process: ServiceProcess, chosen: list[BenchmarkPassage], *, concurrency: int
) -> ServiceRun:
    """Request the passages with this concurrency."""
    async with side(process) as ask:
        before = time.process_time() + process.processor_seconds()
        tokens, rate = await run_concurrently(chosen, ask, concurrency=concurrency)
        return ServiceRun(rate, sum(tokens), time.process_time() + process.processor_seconds() - before)


@asynccontextmanager
async def ask_service(process: ServiceProcess) -> AsyncIterator[AskForPassage]:
    """Post passages to the service."""
    async with httpx2.AsyncClient(base_url=process.service, timeout=600) as client:

        async def ask(passage: BenchmarkPassage) -> int:
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
            return int(response.json()["usage"]["completion_tokens"])

        yield ask


@asynccontextmanager
async def ask_engine(process: ServiceProcess) -> AsyncIterator[AskForPassage]:
    """Stream drafts directly from the engine."""
    async with openai.AsyncOpenAI(
        base_url=process.engine,
        api_key=process.key,
        max_retries=0,
        timeout=600,
        default_headers=EmbeddedEngine.headers,  # or 1 request in 50 fails
    ) as client:

        async def ask(passage: BenchmarkPassage) -> int:
            prompt, sampling = passage.prompt, passage.sampling
            assert not isinstance(prompt.body, str)
            messages: Any = [{"role": turn.role, "content": turn.content} for turn in prompt.body]
            text, pieces, tokens = "", 0, None
            async with await client.chat.completions.create(
                model=process.model,
                messages=messages,
                stream=True,
                stream_options={"include_usage": True},
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                seed=sampling.seed,
                max_tokens=sampling.max_tokens,
                stop=list(prompt.stop),
            ) as stream:
                async for chunk in stream:
                    tokens = chunk.usage.completion_tokens if chunk.usage else tokens
                    if chunk.choices and (piece := chunk.choices[0].delta.content):
                        text, pieces = text + piece, pieces + 1
                        if len(text) > sampling.max_characters:
                            break
            return pieces if tokens is None else tokens

        yield ask


class _Recorder:
    """An engine that records its requests and answers with the MT."""

    def __init__(self) -> None:
        self.asked: list[tuple[Prompt, Sampling]] = []

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        self.asked.append((prompt, sampling))
        return Reply(Draft(prompt.mt.text), Usage())

    async def count(self, text: str) -> int | None:
        return None

    async def models(self) -> tuple[Model, ...]:
        return (Model("recorder"),)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        yield Model("recorder")

    def health(self) -> EngineHealth:
        return EngineHealth("up")


async def prompt_and_sampling(segment: Segment) -> tuple[Prompt, Sampling]:
    """The prompt and sampling that the service sends to its engine."""
    recorder = _Recorder()
    await post_edit(segment, recorder, options=OPTIONS)
    return recorder.asked[0]

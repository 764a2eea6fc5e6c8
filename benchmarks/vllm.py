"""Overhead of the service on vLLM, cost of adapters, and gains from speculation and prefix caching.

How the comparison is kept fair:
- One service runs on one vLLM, started as a user starts it. One side posts passages to the service. The other sends the
  same prompts, already rendered, directly to the same vLLM, streamed, with the `openai` client and the same sampling.
- Sides alternate in starting a round, and get the same sentences in the same order. The prefix cache of vLLM must not
  help the second side, so each sentence has a unique number of four digits, in source and MT. Two batches make two
  rounds: in the second round the sides swap batches, so that in the end both have read and written the same, with as
  many cache hits.
- To compare a flag, two vLLMs that differ by it run at the same time and get the same prompts alternately, new ones
  each round. An idle vLLM takes a fiftieth of a core.
- To compare base and adapter, or one adapter and four, all drafts have the same length, so that the work is the same.
- The load comes from this process. The note has the ratio of processor time, which other load affects less than wall
  time; least of all that of service and client, since vLLM uses the CPU while it waits.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import httpx2

from ape.engines.vllm.launch import SPECULATION
from benchmarks.claims import Claim
from benchmarks.concurrent_requests import run_concurrently
from benchmarks.sample_prompts import BenchmarkPassage
from benchmarks.vllm_clients import (
    ADAPTER,
    BASE,
    DraftTokens,
    NumberedSentences,
    ProcessorTime,
    VllmServer,
    VllmSide,
    service_side,
    vllm_side,
)
from tests.vllm.served_drafts import FLAGS, served, write_cards

ADAPTER_COPIES = (ADAPTER, "copier-2", "copier-3", "copier-4")
SPECULATION_AT_ANY_LOAD = {
    name: value for name, value in SPECULATION.items() if name != "num_speculative_tokens_per_batch_size"
}
SPECULATING, ALWAYS_SPECULATING, NOT_SPECULATING = (
    ("--speculative-config", json.dumps(config, separators=(",", ":")))
    for config in (SPECULATION, SPECULATION_AT_ANY_LOAD, None)
)
NOT_CACHING = ("--no-enable-prefix-caching",)
# Tokens of a draft where all drafts have the same length.
LENGTH = 24
# Concurrency: passages per round, and rounds; an even number, so that both sides start equally often.
Loads = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class VllmPlan:
    """Sizes of the measurements."""

    service: Loads
    speculation: Loads
    speculation_chat: Loads
    always: Loads
    adapter: Loads
    mixed: Loads
    cache: Loads
    cache_chat: Loads


FULL = VllmPlan(
    service={1: (3, 8), 8: (16, 4), 32: (32, 4)},
    speculation={1: (3, 4), 8: (16, 2), 32: (32, 2)},
    speculation_chat={1: (2, 4), 8: (16, 2)},
    always={8: (16, 2)},
    adapter={1: (2, 4), 8: (16, 2)},
    mixed={8: (16, 2)},
    cache={8: (16, 2)},
    cache_chat={1: (2, 4), 8: (16, 2)},
)
# A short run to test the benchmark itself; its ratios mean little.
QUICK = VllmPlan(
    service={1: (1, 2), 8: (8, 2)},
    speculation={1: (1, 2)},
    speculation_chat={1: (1, 2)},
    always={8: (8, 2)},
    adapter={8: (8, 2)},
    mixed={8: (8, 2)},
    cache={8: (8, 2)},
    cache_chat={8: (8, 2)},
)


@dataclass(frozen=True, slots=True)
class VllmRun:
    """Passages per second, their drafts in order, and the processor time."""

    rate: float
    answers: tuple[DraftTokens, ...]
    processor_time: ProcessorTime

    @property
    def written(self) -> int:
        """Number of tokens of all drafts."""
        return sum(answer.length for answer in self.answers)


Rounds = Sequence[tuple[VllmRun, VllmRun]]


def missing() -> str | None:
    """What is missing for this measurement, as a sentence; None if nothing is."""
    if os.environ.get("APE_VLLM_PYTHON") and os.environ.get("APE_TEST_VLLM_MODELS"):
        return None
    return "vLLM is left out: `make bench-vllm` sets up an environment and models for it, and measures it."


def measure(plan: VllmPlan = FULL) -> list[Claim]:
    """Measure all comparisons; four vLLMs in total, at most two at a time."""
    began, load = time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        version, claims = asyncio.run(_measure(Path(folder), plan))
    setting = (
        f"vLLM {version}; SmolLM2-135M-Instruct, adapter of rank 8 on all linear layers; {os.cpu_count()} cores, "
        f"load average {load:.1f} before and {os.getloadavg()[0]:.1f} at the end of "
        f"{(time.monotonic() - began) / 60:.0f} minutes; vLLM's flags: {' '.join(FLAGS)}; "
        f"speculation: {SPECULATING[0]} '{SPECULATING[1]}'"
    )
    return [replace(claim, setting=setting) for claim in claims]


async def _measure(folder: Path, plan: VllmPlan) -> tuple[str, list[Claim]]:
    texts = NumberedSentences()
    write_cards(_models(), folder / "adapters")
    async with start_vllm_service(folder, texts, SPECULATING) as usual:
        version = await _version(usual)
        # With speculation: the faster the model is, the larger is the share of the service.
        sides = service_side(usual), vllm_side(usual)
        claims = await compare_sides("through the service / straight to vLLM", sides, texts, plan.service, bound=0.95)
        async with start_vllm_service(folder, texts, NOT_SPECULATING) as plain:
            text = "n-gram speculation / none"
            claims += await _compare_flag(text, (usual, plain), texts, plan.speculation, plan.speculation_chat)
            claims += await _adapters(plain, texts, plan)
        async with start_vllm_service(folder, texts, ALWAYS_SPECULATING) as always:
            text = "speculation in every batch / in those of one or two"
            claims += await _compare_flag(text, (always, usual), texts, plan.always, {})
        async with start_vllm_service(folder, texts, (*SPECULATING, *NOT_CACHING)) as uncached:
            text = "prefix cache / none"
            claims += await _compare_flag(text, (usual, uncached), texts, plan.cache, plan.cache_chat)
    return version, claims


async def _compare_flag(
    text: str, servers: tuple[VllmServer, VllmServer], texts: NumberedSentences, adapter: Loads, base: Loads
) -> list[Claim]:
    """Compare two servers on prompts of the adapter, which share no prefix, and of the base, which share one."""

    def sides(model: str) -> tuple[VllmSide, VllmSide]:
        one, other = (vllm_side(server, model, tell_tokens=True) for server in servers)
        return one, other

    return [
        *await compare_sides(f"{text}, adapter", sides(ADAPTER), texts, adapter, shared=True),
        *await compare_sides(f"{text}, base", sides(BASE), texts, base, form="chat", shared=True),
    ]


async def _adapters(plain: VllmServer, texts: NumberedSentences, plan: VllmPlan) -> list[Claim]:
    """Compare adapters without speculation, whose success differs from model to model."""
    await _load_copies(plain)
    base, one, four = (vllm_side(plain, *names, length=LENGTH) for names in ((BASE,), (ADAPTER,), ADAPTER_COPIES))
    return [
        *await compare_sides("adapter / base", (one, base), texts, plan.adapter, shared=True),
        *await compare_sides("four adapters mixed / one", (four, one), texts, plan.mixed),
    ]


def _models() -> Path:
    return Path(os.environ["APE_TEST_VLLM_MODELS"]).resolve()


@asynccontextmanager
async def start_vllm_service(folder: Path, texts: NumberedSentences, flags: Sequence[str]) -> AsyncIterator[VllmServer]:
    """Run `ape serve --engine vllm` with the adapter within the block."""
    began, adapters = time.monotonic(), folder / "adapters"
    with served(
        _models(),
        f"--adapter={ADAPTER}={adapters / ADAPTER}",
        vllm_python=os.environ["APE_VLLM_PYTHON"],
        adapters=adapters,
        home=Path(tempfile.mkdtemp(dir=folder)),
        flags=(*FLAGS, *flags),
    ) as running:
        service_pid, *others = running.family
        server = VllmServer(running.address, running.vllm_url, running.vllm_key, service_pid, tuple(others))
        _print_progress(f"vLLM is up after {time.monotonic() - began:.0f} s with {' '.join(flags)}")
        await run_passages(service_side(server), await texts.draw(2, "sep"), concurrency=2)
        await run_passages(vllm_side(server, BASE), await texts.draw(2, "chat"), concurrency=2)
        yield server


async def compare_sides(
    text: str,
    sides: tuple[VllmSide, VllmSide],
    texts: NumberedSentences,
    loads: Loads,
    *,
    form: str = "sep",
    shared: bool = False,
    bound: float | None = None,
) -> list[Claim]:
    """Make a claim for each concurrency. With `shared`, both sides get the same prompts, new ones each round."""
    claims = []
    for concurrency, (passages_a_round, times) in loads.items():
        rounds: list[tuple[VllmRun, VllmRun]] = []
        batches: tuple[list[BenchmarkPassage], ...] = ()
        for number in range(times):
            odd = number % 2 == 1
            if shared or not odd:
                batches = await texts.draw_twice(passages_a_round, form, shared=shared)
            else:
                batches = batches[::-1]
            runs: dict[int, VllmRun] = {}
            for index in (1, 0) if odd else (0, 1):
                runs[index] = await run_passages(sides[index], batches[index], concurrency=concurrency)
            rounds.append((runs[0], runs[1]))
            _print_progress(
                f"{text}, {concurrency} in flight, round {number + 1} of {times}: {runs[0].rate / runs[1].rate:.2f}"
            )
        ratios = tuple(one.rate / other.rate for one, other in rounds)
        note = _note(rounds) + (_our_time(rounds) if bound else "")
        tokens, prompt_tokens = _tokens(rounds), _prompt_tokens(rounds)
        name = f"{text}, {concurrency} in flight"
        claims.append(Claim(name, ratios, bound, note=note, tokens=tokens, prompt_tokens=prompt_tokens))
    return claims


def _note(rounds: Rounds) -> str:
    one, other = zip(*rounds, strict=True)
    computed = sum(run.processor_time.vllm for run in one) / sum(run.processor_time.vllm for run in other)
    note = (
        f"{median(run.rate for run in one):.2f} against {median(run.rate for run in other):.2f} passages a second; "
        f"tokens {_tokens(rounds):.2f}, processor time of vLLM {computed:.2f}"
    )
    drafts = [[answer.tokens for run in side for answer in run.answers] for side in (one, other)]
    if all(map(all, drafts)):
        same = sum(first == second for first, second in zip(*drafts, strict=True))
        note += f"; {same} of {len(drafts[0])} drafts the same, token for token"
    return note


def _tokens(rounds: Rounds) -> float:
    """Tokens of the first side for each token of the second."""
    one, other = zip(*rounds, strict=True)
    return float(sum(run.written for run in one) / sum(run.written for run in other))


def _prompt_tokens(rounds: Rounds) -> float | None:
    """Prompt tokens of the first side for each of the second, where both are known; a draft cut off tells none."""
    pairs = [
        (first.prompt_length, second.prompt_length)
        for one, other in rounds
        for first, second in zip(one.answers, other.answers, strict=True)
        if first.prompt_length and second.prompt_length
    ]
    return sum(first for first, _ in pairs) / sum(second for _, second in pairs) if pairs else None


def _our_time(rounds: Rounds) -> str:
    """Processor time of service and client, which other load affects least."""
    one, other = (
        1000 * sum(run.processor_time.ours for run in side) / sum(len(run.answers) for run in side)
        for side in zip(*rounds, strict=True)
    )
    return f"; of service and client {one:.0f} against {other:.0f} ms a passage"


async def run_passages(side: VllmSide, chosen: Sequence[BenchmarkPassage], *, concurrency: int) -> VllmRun:
    """Request the passages with this concurrency."""
    async with side.opened() as ask:
        before = side.processor_time()
        answers, rate = await run_concurrently(chosen, ask, concurrency=concurrency)
        return VllmRun(rate, tuple(answers), side.processor_time() - before)


async def _load_copies(server: VllmServer) -> None:
    """Load the same adapter under several names, which vLLM treats as different adapters."""
    async with httpx2.AsyncClient(base_url=server.service, timeout=600, trust_env=False) as client:
        for name in ADAPTER_COPIES[1:]:
            response = await client.post("/v1/models", json={"name": name, "directory": ADAPTER})
            response.raise_for_status()


async def _version(server: VllmServer) -> str:
    async with httpx2.AsyncClient(trust_env=False) as client:
        headers = {"Authorization": f"Bearer {server.key}"}
        response = await client.get(server.vllm.removesuffix("/v1") + "/version", headers=headers)
        return str(response.raise_for_status().json()["version"])


def _print_progress(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)

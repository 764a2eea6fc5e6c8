"""The default model on the embedded engine: a passage of some sixty words against plain llama.cpp with the same prompt.

How the comparison is kept fair:
- Both sides are llama.cpp's server in this process, on one model file, with the same number of threads and one slot.
  Ours is the embedded engine through `post_edit`: streamed, with log-probabilities of alternatives, filter and guards.
  The other one has llama.cpp's own settings and gets the rendered prompt in one plain request.
- Both read the same prompts in the same order. A passage is cold if the instructions before it are new, as the name of
  the source language in them is another one each time; the passage after it finds them in the cache.
- Both generate once and stop at the same text. If the prompts have other numbers of tokens, or those of the drafts
  differ by more than 5%, no ratio is given.
- The note has the seconds of both and the ratio of processor time, which other load on the machine hardly affects.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from ape.engines.embedded import embedded_engine
from ape.models import CATALOGUE, LARGE_MODEL, is_cached, resolve_model
from ape.models.profile import read_profile
from ape.passage.options import Options
from ape.passage.result import Usage
from ape.passage.segment import Segment
from ape.post_editor import draft_sampling, post_edit
from ape.settings import load_settings
from ape.text.languages import language_name
from benchmarks.claims import Claim
from prompts import DEFAULT_FORMAT, Prompt, Question, prompt_format

THREADS = (1, 2)
ROUNDS = 3
WINDOW = 4096
OPTIONS = Options(max_attempts=1)
# The source languages that a round claims: with each the instructions are new to both sides.
LANGUAGES = ("fr", "es", "it", "pt", "nl", "sv", "da", "nb")
SOURCES = (
    "Le vieux batelier posa sa rame et regarda la rive. Personne ne l’attendait. Sa fille était partie au printemps, "
    "et depuis il parlait à son chien comme à un ami. Il alluma sa pipe, compta les lumières du village et se dit que "
    "l’hiver serait long.",
    "Elle descendit à la cuisine sans faire de bruit. La lettre était encore sur la table, là où son frère l’avait "
    "laissée. Elle la relut deux fois, la plia en quatre et la glissa dans sa manche avant que la cuisinière ne "
    "revienne du marché.",
)
MT = (
    "The old boatman puts down his oar and looked at the shore. Nobody was waiting for her. His daughter had left in "
    "the spring, and since then he spoke to his dog as to a friend. He lights his pipe, counted the lights of the "
    "village and said to himself that the winter would be long.",
    "She goes down to the kitchen without making noise. The letter was still on the table, where his brother had left "
    "it. She read it again two times, folded it in four and slipped it in her sleeve before the cook comes back from "
    "the market.",
)


@dataclass(frozen=True, slots=True)
class PassageRun:
    """Seconds, processor seconds and tokens of a passage."""

    seconds: float
    processor_seconds: float
    usage: Usage


def missing() -> str | None:
    """Why this can't be measured here, or None."""
    if is_cached(CATALOGUE[LARGE_MODEL], cache=load_settings().cache):
        return None
    return f"The model {LARGE_MODEL} is not here; `ape models pull {LARGE_MODEL}` fetches it."


def measure(*, model: str = LARGE_MODEL, threads: tuple[int, ...] = THREADS, rounds: int = ROUNDS) -> list[Claim]:
    """Cold passages and passages whose instructions are in the cache, by number of threads."""
    file = resolve_model(model, cache=load_settings().cache)
    return [claim for count in threads for claim in asyncio.run(_measure(file, model, count, rounds))]


async def _measure(file: Path, model: str, threads: int, rounds: int) -> list[Claim]:
    profile = read_profile(model)
    style = profile.format if profile else DEFAULT_FORMAT.name
    server = _start_plain_server(file, threads)
    runs: dict[str, list[tuple[PassageRun, PassageRun]]] = {"cold": [], "with its instructions in the cache": []}
    engine = embedded_engine(file, name=model, concurrency=1, window=WINDOW, threads=threads, profile=profile)
    async with engine as ours, httpx2.AsyncClient(timeout=600) as client:
        # A passage that is not counted: the first one also brings the file into memory.
        for number in range(rounds + 1):
            language = LANGUAGES[number % len(LANGUAGES)]
            for source, mt, measured in zip(SOURCES, MT, runs.values(), strict=True):
                segment = Segment(source, mt, language, "en")

                async def edit(segment: Segment = segment) -> Usage:
                    return (await post_edit(segment, ours, options=OPTIONS)).usage

                async def ask(segment: Segment = segment) -> Usage:
                    return await _ask_plainly(client, server.listening_address, _prompt(segment, style), segment)

                sides: list[Callable[[], Awaitable[Usage]]] = [edit, ask]
                order = (0, 1) if number % 2 else (1, 0)
                done = {at: await _timed(sides[at]) for at in order}
                if number:
                    measured.append((done[0], done[1]))
    return [_claim(kind, threads, measured) for kind, measured in runs.items()]


def _start_plain_server(file: Path, threads: int) -> Any:
    """llama.cpp with its own settings, but for the number of threads, the window and one slot."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.port = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.n_parallel = 1
    parameters.n_ctx = WINDOW
    parameters.ui = False
    parameters.verbosity = -1
    for pool in (parameters.cpuparams, parameters.cpuparams_batch):
        pool.n_threads = threads
    return xllamacpp.Server(parameters)


def _prompt(segment: Segment, style: str) -> Prompt:
    languages = language_name(segment.source_language), language_name(segment.target_language)
    return prompt_format(style).render(Question(segment.source, segment.mt, *languages))


async def _ask_plainly(client: Any, address: str, prompt: Prompt, segment: Segment) -> Usage:
    assert not isinstance(prompt.body, str)
    sampling = draft_sampling(segment, OPTIONS, 1, with_logprobs=False)
    reply = await client.post(
        f"{address}/v1/chat/completions",
        json={
            "messages": [{"role": turn.role, "content": turn.content} for turn in prompt.body],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "max_tokens": sampling.max_tokens,
            "stop": list(prompt.stop),
        },
    )
    reply.raise_for_status()
    usage = reply.json()["usage"]
    return Usage(usage["prompt_tokens"], usage["completion_tokens"])


async def _timed(side: Callable[[], Awaitable[Usage]]) -> PassageRun:
    began, processor = time.perf_counter(), time.process_time()
    usage = await side()
    return PassageRun(time.perf_counter() - began, time.process_time() - processor, usage)


def _claim(kind: str, threads: int, measured: list[tuple[PassageRun, PassageRun]]) -> Claim:
    ours, plain = (median(run.seconds for run in side) for side in zip(*measured, strict=True))
    processor = median(other.processor_seconds / one.processor_seconds for one, other in measured)
    used, used_plainly = (sum((run.usage for run in side), Usage()) for side in zip(*measured, strict=True))
    return Claim(
        f"plain llama.cpp over a passage of 60 words {kind}, {threads} thread{'s' * (threads > 1)}",
        tuple(other.seconds / one.seconds for one, other in measured),
        0.95,
        note=f"{ours:.1f} s, plain {plain:.1f} s; by processor time {processor:.2f}",
        tokens=used.completion_tokens / used_plainly.completion_tokens,
        prompt_tokens=used.prompt_tokens / used_plainly.prompt_tokens,
    )

"""Decoding from the MT against plain decoding, on the passages of the sample chapters.

How the comparison is kept fair:
- Both sides are our embedded engine on one model file, with the same prompts, settings and number of threads; one of
  them has decoding from the MT switched off. Log-probabilities are asked for, as the filter of edits needs them.
- The instructions have been read before the measurement, as in a book. Sides alternate in who begins.
- Drafts are compared token by token. Where they part, the note says by how much the model preferred its token.
- A passage that the model leaves as it is needs no written token: reading it is all. With one passage in flight the
  note says how many these are, and their time on our side over that of plain decoding.
- The note has the ratio of processor time too, which other load on the machine hardly affects.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from ape.engines.embedded import EmbeddedEngine, embedded_engine
from ape.engines.protocol import Reply, Sampling
from ape.models import CATALOGUE, LARGE_MODEL, is_cached, resolve_model
from ape.models.profile import read_profile
from ape.passage.events import ignore_event
from ape.passage.options import Options
from ape.passage.result import Usage
from ape.passage.segment import Segment
from ape.post_editor import draft_sampling
from ape.sample import SAMPLES, load_sample
from ape.settings import load_settings
from ape.text.languages import language_name
from benchmarks.claims import Claim
from prompts import DEFAULT_FORMAT, Prompt, Question, prompt_format

IN_FLIGHT = (1, 4, 8, 32)
THREADS = 1
PASSAGES = 16
ROUNDS = 2
WINDOW = 2048
Task = tuple[Prompt, Sampling]


@dataclass(frozen=True, slots=True)
class SideRun:
    """Seconds, processor seconds and replies of all passages, and the seconds of each."""

    seconds: float
    processor_seconds: float
    replies: Sequence[Reply]
    each: Sequence[float]


def missing() -> str | None:
    """Why this can't be measured here, or None."""
    if is_cached(CATALOGUE[LARGE_MODEL], cache=load_settings().cache):
        return None
    return f"The model {LARGE_MODEL} is not here; `ape models pull {LARGE_MODEL}` fetches it."


def measure(
    *,
    model: str = LARGE_MODEL,
    threads: int = THREADS,
    in_flight: tuple[int, ...] = IN_FLIGHT,
    passages: int = PASSAGES,
    rounds: int = ROUNDS,
) -> list[Claim]:
    """One claim for each number of passages in flight."""
    file = resolve_model(model, cache=load_settings().cache)
    tasks = sample_tasks(model, passages)
    return [asyncio.run(_measure(file, model, tasks, threads, number, rounds)) for number in in_flight]


def sample_tasks(model: str, count: int) -> list[Task]:
    """Prompts of the sample chapters at even distances, in the model's own format."""
    profile = read_profile(model)
    style = prompt_format(profile.format if profile else DEFAULT_FORMAT.name)
    segments = [
        Segment(paragraph.source, paragraph.mt, sample.source_language, "en")
        for sample in map(load_sample, SAMPLES)
        for paragraph in sample.paragraphs
    ]
    chosen = [segments[at * len(segments) // count] for at in range(min(count, len(segments)))]
    return [(style.render(_question(one)), draft_sampling(one, Options(), 1, with_logprobs=True)) for one in chosen]


def _question(segment: Segment) -> Question:
    return Question(segment.source, segment.mt, language_name(segment.source_language), "English")


async def _measure(file: Path, model: str, tasks: Sequence[Task], threads: int, in_flight: int, rounds: int) -> Claim:
    async with AsyncExitStack() as stack:
        sides = [
            await stack.enter_async_context(
                embedded_engine(
                    file, name=model, concurrency=in_flight, window=WINDOW, threads=threads, from_mt=from_mt
                )
            )
            for from_mt in (True, False)
        ]
        for engine in sides:
            await _run(engine, _evenly(tasks, 2 * in_flight), in_flight)
        measured = []
        for number in range(rounds):
            order = (0, 1) if number % 2 else (1, 0)
            done = {at: await _run(sides[at], tasks, in_flight) for at in order}
            measured.append((done[0], done[1]))
        counts = sides[0].decoding_counts
    ours, plain = zip(*measured, strict=True)
    processor = sum(run.processor_seconds for run in plain) / sum(run.processor_seconds for run in ours)
    accepted = counts.accepted / max(counts.proposed, 1)
    left_alone = f"; {compare_unchanged(tasks, ours, plain)}" if in_flight == 1 else ""
    return Claim(
        f"plain decoding over decoding from the MT, {in_flight} in flight",
        tuple(other.seconds / one.seconds for one, other in measured),
        1.0,
        note=f"by processor time {processor:.2f}; {accepted:.0%} of proposals accepted; {_compare(ours, plain)}"
        + left_alone,
        tokens=_usage(ours).completion_tokens / _usage(plain).completion_tokens,
        prompt_tokens=_usage(ours).prompt_tokens / _usage(plain).prompt_tokens,
    )


def _evenly(tasks: Sequence[Task], count: int) -> list[Task]:
    """Enough passages of both languages that every slot has read the instructions."""
    count = min(count, len(tasks))
    return [tasks[at * len(tasks) // count] for at in range(count)]


async def _run(engine: EmbeddedEngine, tasks: Sequence[Task], in_flight: int) -> SideRun:
    (model, *_) = await engine.models()
    semaphore = asyncio.Semaphore(in_flight)

    async def ask(task: Task) -> tuple[Reply, float]:
        async with semaphore:
            began = time.perf_counter()
            reply = await engine.ask(task[0], task[1], model=model, listen=ignore_event)
            return reply, time.perf_counter() - began

    began, processor = time.perf_counter(), time.process_time()
    replies, each = zip(*await asyncio.gather(*map(ask, tasks)), strict=True)
    return SideRun(time.perf_counter() - began, time.process_time() - processor, replies, each)


def _usage(runs: Sequence[SideRun]) -> Usage:
    return sum((reply.usage for run in runs for reply in run.replies), Usage())


def compare_unchanged(tasks: Sequence[Task], ours: Sequence[SideRun], plain: Sequence[SideRun]) -> str:
    """How many passages both sides left as they are, and the time that they took."""
    found = [
        (one, other)
        for mine, theirs in zip(ours, plain, strict=True)
        for (prompt, _), reply, second, one, other in zip(
            tasks, mine.replies, theirs.replies, mine.each, theirs.each, strict=True
        )
        if prompt.read(reply.draft.text) == prompt.read(second.draft.text) == prompt.mt.restore(prompt.mt.text)
    ]
    share = f"{len(found)} of {len(tasks) * len(ours)} left as they are"
    if not found:
        return share
    one, other = map(sum, zip(*found, strict=True))
    return f"{share}, in {one / other:.2f} of the time"


def _compare(ours: Sequence[SideRun], plain: Sequence[SideRun]) -> str:
    """How many drafts are the same, and how near the ties were where they part."""
    pairs = [
        pair for one, other in zip(ours, plain, strict=True) for pair in zip(one.replies, other.replies, strict=True)
    ]
    gaps = [_gap(one, other) for one, other in pairs if one.draft.text != other.draft.text]
    same = f"{len(pairs) - len(gaps)} of {len(pairs)} drafts the same"
    return same if not gaps else f"{same}, the others part where two tokens differ by {max(gaps):.2f} at most"


def _gap(one: Reply, other: Reply) -> float:
    """By how much more likely the token was at which the first draft parts from the second."""
    place = 0
    for token in one.draft.logprobs:
        place += len(token.text)
        if not other.draft.text.startswith(one.draft.text[:place]):
            rivals = [value for text, value in token.alternatives if text != token.text]
            return token.logprob - max(rivals)
    return 0.0

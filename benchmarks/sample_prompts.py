"""Sentences of the sample chapters as passages, with the prompts and sampling that a service sends to a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ape.engines import EngineHealth, Model, Reply, Sampling
from ape.passage.events import Listener
from ape.passage.options import Options
from ape.passage.result import Usage
from ape.passage.segment import Draft, Segment
from ape.post_editor import post_edit
from ape.sample import SAMPLES, load_sample
from ape.text.sentences import split_sentences
from prompts import Prompt

OPTIONS = Options(max_attempts=1)


@dataclass(frozen=True, slots=True)
class BenchmarkPassage:
    """A passage with its number among the sample passages, its prompt and its sampling."""

    number: int
    segment: Segment
    prompt: Prompt
    sampling: Sampling


def sample_passages() -> list[Segment]:
    """The first sentence of each paragraph of the sample chapters.

    The shorter a passage is, the larger is the share of the service in its time.
    """
    return [
        replace(segment, source=split_sentences(segment.source)[0].strip(), mt=split_sentences(segment.mt)[0].strip())
        for name in SAMPLES
        for segment in load_sample(name).segments()
    ]


class _Recorder:
    """An engine that records its requests and answers with the MT."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.requests: list[tuple[Prompt, Sampling]] = []

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        self.requests.append((prompt, sampling))
        return Reply(Draft(prompt.mt.text), Usage())

    async def count(self, text: str) -> int | None:
        return None

    async def models(self) -> tuple[Model, ...]:
        return (self.model,)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        yield self.model

    def health(self) -> EngineHealth:
        return EngineHealth("up")


async def recorded_passages(form: str) -> list[BenchmarkPassage]:
    """The sample passages with the prompts and sampling that a service sends to a model of that prompt format."""
    return [await recorded_passage(segment, form, number) for number, segment in enumerate(sample_passages())]


async def recorded_passage(segment: Segment, form: str, number: int = 0) -> BenchmarkPassage:
    """The passage with the prompt and sampling that a service sends to a model of that prompt format."""
    recorder = _Recorder(Model("recorder", format=form))
    await post_edit(segment, recorder, options=OPTIONS)
    return BenchmarkPassage(number, segment, *recorder.requests[0])

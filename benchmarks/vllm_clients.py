"""Two clients for drafts of vLLM: through the service, and directly with the same prompt."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import httpx2
import openai
from openai import AsyncStream
from openai.types import Completion
from openai.types.chat import ChatCompletionChunk

from ape.passage.segment import Segment
from benchmarks.sample_prompts import OPTIONS, BenchmarkPassage, recorded_passage, sample_passages

BASE, ADAPTER = "base", "copier"


@dataclass(frozen=True, slots=True)
class VllmServer:
    """A service with its own vLLM, and the address of that vLLM."""

    service: str
    vllm: str
    key: str
    service_pid: int
    vllm_pids: tuple[int, ...]

    def processor_time(self) -> ProcessorTime:
        """Processor time so far of its processes and this one."""
        return ProcessorTime(
            time.process_time() + _seconds(self.service_pid), sum(_seconds(pid) for pid in self.vllm_pids)
        )


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """Processor seconds of service with client, and of vLLM."""

    ours: float
    vllm: float

    def __sub__(self, earlier: ProcessorTime) -> ProcessorTime:
        return ProcessorTime(self.ours - earlier.ours, self.vllm - earlier.vllm)


def _seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class DraftTokens:
    """The tokens of a prompt and of its draft: how many there are, and those of the draft on request."""

    length: int
    tokens: tuple[int, ...] = ()
    prompt_length: int = 0


AskForTokens = Callable[[BenchmarkPassage], Awaitable[DraftTokens]]


@dataclass(frozen=True, slots=True)
class VllmSide:
    """A client, and the processor time to count for it."""

    opened: Callable[[], AbstractAsyncContextManager[AskForTokens]]
    processor_time: Callable[[], ProcessorTime]


def service_side(server: VllmServer) -> VllmSide:
    """Post passages to the service."""
    return VllmSide(partial(_ask_service, server), server.processor_time)


@asynccontextmanager
async def _ask_service(server: VllmServer) -> AsyncIterator[AskForTokens]:
    async with httpx2.AsyncClient(base_url=server.service, timeout=600, trust_env=False) as client:

        async def ask(passage: BenchmarkPassage) -> DraftTokens:
            segment = passage.segment
            question = {
                "source": segment.source,
                "mt": segment.mt,
                "source_language": segment.source_language,
                "target_language": segment.target_language,
                "model": ADAPTER,
                "max_attempts": OPTIONS.max_attempts,
            }
            response = await client.post("/v1/post-edit", json=question)
            response.raise_for_status()
            usage = response.json()["usage"]
            return DraftTokens(int(usage["completion_tokens"]), prompt_length=int(usage["prompt_tokens"]))

        yield ask


def vllm_side(server: VllmServer, *models: str, length: int | None = None, tell_tokens: bool = False) -> VllmSide:
    """Stream drafts of these models in turn directly from vLLM.

    `length` sets the length of all drafts. Otherwise they end as they do for the service, except that `tell_tokens`
    ignores its limit of characters, since chunks of the two sides may have different numbers of tokens.
    """
    opened = partial(_ask_vllm, server, models or (ADAPTER,), length=length, tell_tokens=tell_tokens)
    return VllmSide(opened, server.processor_time)


@asynccontextmanager
async def _ask_vllm(
    server: VllmServer, models: Sequence[str], *, length: int | None, tell_tokens: bool
) -> AsyncIterator[AskForTokens]:
    names = cycle(models)
    extra: dict[str, object] = {"ignore_eos": True} if length else {}
    if tell_tokens:
        extra["return_token_ids"] = True
    local = openai.DefaultAsyncHttpxClient(trust_env=False)
    async with openai.AsyncOpenAI(
        base_url=server.vllm, api_key=server.key, max_retries=0, timeout=600, http_client=local
    ) as client:

        async def ask(passage: BenchmarkPassage) -> DraftTokens:
            body, sampling = passage.prompt.body, passage.sampling
            parameters: dict[str, Any] = {
                "model": next(names),
                "stream": True,
                "stream_options": {"include_usage": True},
                "temperature": sampling.temperature,
                "top_p": sampling.top_p,
                "seed": sampling.seed,
                "max_tokens": length or sampling.max_tokens,
                "stop": [] if length else list(passage.prompt.stop),
                "extra_body": extra or None,
            }
            limit = None if length or tell_tokens else sampling.max_characters
            if isinstance(body, str):
                written: AsyncStream[Completion] = await client.completions.create(prompt=body, **parameters)
                async with written:
                    return await _read(written, lambda choice: choice.text, limit)
            messages: Any = [{"role": turn.role, "content": turn.content} for turn in body]
            said: AsyncStream[ChatCompletionChunk] = await client.chat.completions.create(
                messages=messages, **parameters
            )
            async with said:
                return await _read(said, lambda choice: choice.delta.content, limit)

        yield ask


async def _read(stream: AsyncIterator[Any], text_of: Callable[[Any], str | None], limit: int | None) -> DraftTokens:
    """Join the text, as the service does; closing the stream early stops vLLM."""
    text, pieces, length, prompt_length = "", 0, None, 0
    tokens: list[int] = []
    async for chunk in stream:
        if chunk.usage:
            length, prompt_length = chunk.usage.completion_tokens, chunk.usage.prompt_tokens
        for choice in chunk.choices:
            tokens += (choice.model_extra or {}).get("token_ids") or ()
            if piece := text_of(choice):
                text, pieces = text + piece, pieces + 1
        if limit and len(text) > limit:
            break
    return DraftTokens(pieces if length is None else length, tuple(tokens), prompt_length)


class NumberedSentences:
    """Sentences of the sample chapters, each with a unique number."""

    def __init__(self) -> None:
        self._sentences = cycle(sample_passages())
        self._numbers = count(1000)

    async def draw(self, length: int, form: str) -> list[BenchmarkPassage]:
        """The next sentences, as prompts of a format."""
        return await self._numbered(list(islice(self._sentences, length)), form)

    async def draw_twice(
        self, length: int, form: str, *, shared: bool
    ) -> tuple[list[BenchmarkPassage], list[BenchmarkPassage]]:
        """The same sentences for both sides, with the same numbers if shared."""
        sentences = list(islice(self._sentences, length))
        first = await self._numbered(sentences, form)
        return first, first if shared else await self._numbered(sentences, form)

    async def _numbered(self, sentences: Sequence[Segment], form: str) -> list[BenchmarkPassage]:
        return [await recorded_passage(_with_number(next(self._numbers), one), form) for one in sentences]


def _with_number(number: int, sentence: Segment) -> Segment:
    source, mt = (f"{number}. {text}" for text in (sentence.source, sentence.mt))
    return replace(sentence, source=source, mt=mt, glossary=())

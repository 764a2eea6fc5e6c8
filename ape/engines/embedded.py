"""The embedded engine: llama.cpp in this process, called over HTTP on a loopback port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import openai

from ape.adapters import AdapterCard
from ape.adapters.gguf import GgufAdapter
from ape.cancellation import finish_despite_cancellation, stop_in_thread
from ape.engines.client import MAX_ANSWER_SECONDS, OpenAIEngine, Stream
from ape.engines.greedy_drafts import GreedyDrafts
from ape.engines.llama_server import LlamaServer
from ape.engines.merged_model import apply_card, apply_profile, read_merged_card
from ape.engines.mt_decoder import DecodingCounts
from ape.engines.protocol import Model, Reply, Sampling
from ape.engines.retry import RetryPolicy, translate_error
from ape.engines.threads import (
    REVIEW_SECONDS,
    START_SECONDS,
    available_cores,
    choose_threads,
    read_processor_times,
    review_threads,
)
from ape.errors import EngineTimeout, ModelError
from ape.models.checksum import file_revision
from ape.models.profile import ModelProfile
from ape.passage.events import Listener
from prompts import Message, Prompt

DEFAULT_CONCURRENCY = 4
DEFAULT_WINDOW = 4096
# The model of the last request, and the messages before its passage.
_Prefix = tuple[str, list[dict[str, str]]]


@asynccontextmanager
async def embedded_engine(
    path: Path,
    *,
    name: str,
    concurrency: int = DEFAULT_CONCURRENCY,
    window: int = DEFAULT_WINDOW,
    threads: int | None = None,
    retry: RetryPolicy | None = None,
    repeatable: bool = False,
    adapters: Sequence[GgufAdapter] = (),
    default_model: str | None = None,
    profile: ModelProfile | None = None,
    from_mt: bool = True,
) -> AsyncIterator[EmbeddedEngine]:
    """Start llama.cpp on a model file; at the end its threads, memory and port are freed.

    `concurrency` passages are batched, each with a window of `window` tokens. `repeatable` makes answers independent of
    earlier requests; it requires a concurrency of 1. `adapters` are served as further models. `default_model` is the
    model called "default", by default `name`. `profile` is that of the base model. `from_mt` decodes from the MT where
    that is possible; the drafts are the same without it.
    """
    card = read_merged_card(path.parent)
    # The number of threads may change how a draft is rounded, so a repeatable engine does not look at the load.
    follows_load = threads is None and not repeatable
    threads = threads or choose_threads(available_cores(), await _observe_load() if follows_load else None)
    server = LlamaServer(path, name=name, concurrency=concurrency, window=window, adapters=adapters)
    await asyncio.to_thread(server.start, threads)
    try:
        async with EmbeddedEngine(
            server,
            threads=threads,
            name=name,
            revision=file_revision(path),
            concurrency=concurrency,
            retry=retry,
            repeatable=repeatable,
            adapters=adapters,
            default_model=default_model,
            card=card,
            profile=profile,
            drafts_from=path if from_mt else None,
            window=window,
        ) as engine:
            review = asyncio.create_task(engine.follow_load()) if follows_load else None
            try:
                yield engine
            finally:
                await _cancel(review)
                await engine.close_drafts()
    finally:
        await stop_in_thread(server.stop)


async def _observe_load() -> float | None:
    """The cores that other processes use at the moment; None if the system does not tell."""
    before = read_processor_times()
    if before is None:
        return None
    await asyncio.sleep(START_SECONDS)
    after = read_processor_times()
    return before.cores_used_by_others(after) if after else None


async def _cancel(task: asyncio.Task[None] | None) -> None:
    if task:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def revision_on_base(base: Model, adapter: GgufAdapter) -> Model:
    """The adapter as a model; its revision includes that of its base."""
    return replace(
        base,
        name=adapter.name,
        format=adapter.format,
        revision=f"{base.revision}+{adapter.revision}",
        edit_filter=adapter.card.gate,
        languages=adapter.card.languages,
    )


class EmbeddedEngine(OpenAIEngine):
    """Client of the llama.cpp server in this process."""

    # llama.cpp often closes a keep-alive connection after a stream, and the next request is lost (measured: 12 of 600).
    # A new loopback connection costs less than a retry.
    headers: ClassVar[dict[str, str]] = {"Connection": "close"}

    def __init__(
        self,
        server: LlamaServer,
        *,
        threads: int,
        name: str,
        concurrency: int,
        revision: str = "",
        retry: RetryPolicy | None = None,
        repeatable: bool = False,
        adapters: Sequence[GgufAdapter] = (),
        default_model: str | None = None,
        card: AdapterCard | None = None,
        profile: ModelProfile | None = None,
        drafts_from: Path | None = None,
        window: int = DEFAULT_WINDOW,
    ) -> None:
        # A slow machine may take long to read a prompt before its first token.
        super().__init__(
            f"{server.address}/v1",
            api_key=server.key,
            default_model=name,
            concurrency=concurrency,
            timeout_seconds=300,
            retry=retry,
        )
        self.threads = threads
        self._server = server
        self._concurrency = concurrency
        # Held by calls that are no generations, so that the server is not replaced meanwhile.
        self._replacing = asyncio.Lock()
        self._revision = revision
        # llama.cpp notices a disconnected caller only when it writes. Progress events make it write after every batch
        # of the prompt: cancelling four long prompts then frees the slots in seconds (measured: 54 s without).
        self.extra_body = {"return_progress": True}
        self._repeatable = repeatable
        self.adapters = tuple(adapters)
        self._default_name = default_model or name
        self._card = card
        self._profile = profile
        self._prefix: _Prefix | None = None
        self._drafts = drafts_from and GreedyDrafts(
            drafts_from, window=window, concurrency=concurrency, repeatable=repeatable, render=self._render
        )

    async def models(self) -> tuple[Model, ...]:
        """The base model with the revision of its file, and the adapters."""
        async with self._replacing:
            (base,) = await super().models()
        base = apply_card(replace(base, revision=self._revision), self._card)
        served_base = apply_profile(base, self._profile)
        served = (served_base, *(revision_on_base(base, adapter) for adapter in self.adapters))
        self._known = tuple(sorted(served, key=lambda model: model.name != self._default_name))
        return self._known

    def body_for(self, prompt: Prompt, model: Model) -> Mapping[str, object]:
        """Progress events, the adapter, and no prompt cache for a repeatable text prompt, which has no prefix."""
        cache = {"cache_prompt": False} if self._repeatable and isinstance(prompt.body, str) else {}
        return {**(self.extra_body or {}), **self._adapter_scales(model), **cache}

    def _adapter_scales(self, model: Model) -> dict[str, object]:
        """The scale of every adapter: one that is left out keeps its scale of the previous request."""
        scales = [
            {"id": number, "scale": float(adapter.name == model.name)} for number, adapter in enumerate(self.adapters)
        ]
        return {"lora": scales} if scales else {}

    @property
    def decoding_counts(self) -> DecodingCounts:
        """What was decoded from the MT so far."""
        return self._drafts.counts if self._drafts else DecodingCounts()

    async def close_drafts(self) -> None:
        """Free the memory of the decoder that starts from the MT."""
        if self._drafts:
            await self._drafts.close()

    async def _once(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """Decode from the MT; where that is impossible, the server writes the draft."""
        if self._drafts and all(adapter.name != model.name for adapter in self.adapters):
            try:
                async with asyncio.timeout(MAX_ANSWER_SECONDS):
                    reply = await self._drafts.draft(prompt, sampling, threads=self.threads, listen=listen)
            except TimeoutError as error:
                raise EngineTimeout("The model did not finish its answer in time.") from error
            if reply:
                return reply
        return await super()._once(prompt, sampling, model=model, listen=listen)

    async def _render(self, messages: Sequence[Message]) -> str:
        """The messages in the chat template of the model, as the server renders them."""
        body = {"messages": [{"role": one.role, "content": one.content} for one in messages]}
        try:
            reply = await self._client.post(f"{self.address}/apply-template", body=body, cast_to=dict[str, str])
        except openai.OpenAIError as error:
            raise translate_error(error) from error
        return reply["prompt"]

    async def _begin(self, prompt: Prompt, parameters: dict[str, Any], model: Model) -> Stream:
        if isinstance(prompt.body, str):
            self._prefix = None
        elif self._repeatable:
            turns = [{"role": turn.role, "content": turn.content} for turn in prompt.body[:-1]]
            await self._cache_prefix(turns, model)
        return await super()._begin(prompt, parameters, model)

    async def _cache_prefix(self, prefix: list[dict[str, str]], model: Model) -> None:
        """Make the prompt cache of the slot hold exactly the messages that all prompts begin with.

        llama.cpp reuses the tokens that a prompt shares with the previous one and reads the rest in batches; batches of
        another size round differently (measured: 3 of 28 passages changed with the order of requests). Here each prompt
        finds the same tokens cached, read in the same batches. Without any cache the instructions would be read again
        for every passage.
        """
        if (model.name, prefix) != self._prefix:
            await self._read(prefix, model, cache_prompt=False)
            self._prefix = (model.name, prefix)
        await self._read(prefix, model, cache_prompt=True)

    async def _read(self, prefix: list[dict[str, str]], model: Model, *, cache_prompt: bool) -> None:
        messages: Any = prefix
        await self._client.chat.completions.create(
            model=model.name,
            messages=messages,
            max_tokens=1,
            extra_body={"cache_prompt": cache_prompt, **self._adapter_scales(model)},
        )

    async def count(self, text: str) -> int | None:
        """The exact number of tokens."""
        return len(await self.tokens(text))

    async def tokens(self, *parts: str | int, as_prompt: bool = False) -> list[int]:
        """Tokenise each text by itself; numbers are token ids and stay as they are.

        `as_prompt` adds the special tokens that the model begins or ends a prompt with.
        """
        body = {"content": list(parts), "add_special": as_prompt}
        try:
            async with self._replacing:
                reply = await self._client.post(f"{self.address}/tokenize", body=body, cast_to=dict[str, list[int]])
        except openai.OpenAIError as error:
            raise translate_error(error) from error
        return reply["tokens"]

    async def follow_load(self) -> None:
        """Review the number of threads every minute, for as long as the engine runs."""
        before = read_processor_times()
        while before:
            await asyncio.sleep(REVIEW_SECONDS)
            after = read_processor_times()
            if after is None:
                return
            await self.set_threads(review_threads(self.threads, available_cores(), before.cores_used_by_others(after)))
            before = read_processor_times()

    @property
    def address(self) -> str:
        """The URL of the server; another one after the number of threads has changed."""
        return self._server.address

    async def set_threads(self, threads: int) -> None:
        """Use another number of threads: wait until no draft is being generated, and load the model again."""
        if threads == self.threads:
            return
        held = 0
        try:
            for _ in range(self._concurrency):
                await self._semaphore.acquire()
                held += 1
            async with self._replacing:
                await finish_despite_cancellation(asyncio.to_thread(self._restart, threads))
        finally:
            for _ in range(held):
                self._semaphore.release()

    def _restart(self, threads: int) -> None:
        self._server.stop()
        self._prefix = None
        try:
            self._server.start(threads)
            self.threads = threads
        except ModelError:  # the memory may be short now
            self._server.start(self.threads)
        if self._drafts:
            self._drafts.set_threads(self.threads)
        self._client.base_url = f"{self.address}/v1"

    async def busy(self) -> int:
        """The number of busy slots."""
        async with self._replacing:
            slots = await self._client.get(f"{self.address}/slots", cast_to=list[dict[str, Any]])
        return sum(bool(slot["is_processing"]) for slot in slots) + (self._drafts.busy if self._drafts else 0)

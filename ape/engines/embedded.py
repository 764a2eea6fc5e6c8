"""The embedded engine: llama.cpp in this process, called over HTTP on a loopback port."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import openai

from ape.adapters import AdapterCard
from ape.adapters.gguf import GgufAdapter
from ape.engines.client import OpenAIEngine, Stream
from ape.engines.merged_model import apply_card, read_merged_card
from ape.engines.protocol import Model
from ape.engines.retry import RetryPolicy, translate_error
from ape.errors import ModelError
from ape.models.checksum import file_revision
from prompts import Prompt

DEFAULT_CONCURRENCY = 4
DEFAULT_WINDOW = 4096
# Prompt tokens read between two checks for disconnected callers; smaller batches are slower.
BATCH_TOKENS = 256
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
) -> AsyncIterator[EmbeddedEngine]:
    """Start llama.cpp on a model file; at the end its threads, memory and port are freed.

    `concurrency` passages are batched, each with a window of `window` tokens. `repeatable` makes answers independent of
    earlier requests; it requires a concurrency of 1. `adapters` are served as further models. `default_model` is the
    model called "default", by default `name`.
    """
    card = read_merged_card(path.parent)
    server = _Server()
    await asyncio.to_thread(
        server.start, path, name=name, concurrency=concurrency, window=window, threads=threads, adapters=adapters
    )
    try:
        async with EmbeddedEngine(
            server.address,
            key=server.key,
            name=name,
            revision=file_revision(path),
            concurrency=concurrency,
            retry=retry,
            repeatable=repeatable,
            adapters=adapters,
            default_model=default_model,
            card=card,
        ) as engine:
            yield engine
    finally:
        try:
            await asyncio.shield(asyncio.to_thread(server.stop))
        except RuntimeError:  # at exit, when the interpreter starts no more threads
            server.stop()


def default_threads() -> int:
    """One fewer than the available cores.

    llama.cpp's threads synchronise after every operation, so one that shares its core delays all: with another busy
    process two threads on two cores were several times slower than one.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, allowed - 1)


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
        address: str,
        *,
        key: str,
        name: str,
        concurrency: int,
        revision: str = "",
        retry: RetryPolicy | None = None,
        repeatable: bool = False,
        adapters: Sequence[GgufAdapter] = (),
        default_model: str | None = None,
        card: AdapterCard | None = None,
    ) -> None:
        # A slow machine may take long to read a prompt before its first token.
        super().__init__(
            f"{address}/v1", api_key=key, default_model=name, concurrency=concurrency, timeout_seconds=300, retry=retry
        )
        self._address = address
        self._revision = revision
        # llama.cpp notices a disconnected caller only when it writes. Progress events make it write after every batch
        # of the prompt: cancelling four long prompts then frees the slots in seconds (measured: 54 s without).
        self.extra_body = {"return_progress": True}
        self._repeatable = repeatable
        self.adapters = tuple(adapters)
        self._default_name = default_model or name
        self._card = card
        self._prefix: _Prefix | None = None

    async def models(self) -> tuple[Model, ...]:
        """The base model with the revision of its file, and the adapters."""
        (base,) = await super().models()
        base = apply_card(replace(base, revision=self._revision), self._card)
        served = (base, *(revision_on_base(base, adapter) for adapter in self.adapters))
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
            reply = await self._client.post(f"{self._address}/tokenize", body=body, cast_to=dict[str, list[int]])
        except openai.OpenAIError as error:
            raise translate_error(error) from error
        return reply["tokens"]

    async def busy(self) -> int:
        """The number of busy slots."""
        slots = await self._client.get(f"{self._address}/slots", cast_to=list[dict[str, Any]])
        return sum(bool(slot["is_processing"]) for slot in slots)


class _Server:
    """A llama.cpp server and its API key."""

    def __init__(self) -> None:
        self.key = secrets.token_urlsafe(24)
        self.address = ""
        self._handle: Any = None

    def start(
        self,
        path: Path,
        *,
        name: str,
        concurrency: int,
        window: int,
        threads: int | None,
        adapters: Sequence[GgufAdapter],
    ) -> None:
        """Load the model and listen on a free port."""
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.model_alias = {name}
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.api_keys = [self.key]
        parameters.n_parallel = concurrency
        parameters.n_ctx = window * concurrency
        parameters.endpoint_slots = True
        parameters.n_batch = parameters.n_ubatch = BATCH_TOKENS
        # By default it stores a copy of every prompt, up to 8 GB. A passage is read once, and the common prefix of
        # all prompts is in each slot anyway.
        parameters.cache_ram_mib = 0
        # Loaded with scale 0, until a request enables one.
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter.path), 0.0) for adapter in adapters]
        parameters.ui = False
        parameters.verbosity = -1
        for pool in (parameters.cpuparams, parameters.cpuparams_batch):
            pool.n_threads = threads or default_threads()
            pool.poll = 0  # spinning threads starve the Python threads of this process
        try:
            self._handle = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise ModelError(
                f"{path} can't be loaded as a model ({error}). Is it a complete GGUF file of a known architecture?"
            ) from error
        self.address = self._handle.listening_address

    def stop(self) -> None:
        """Drop the only handle, which joins the server's threads and frees its port."""
        self._handle = None

"""The embedded engine: llama.cpp in this process, on a loopback port of its own, asked like any other server."""

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
# Tokens of a prompt read between two looks at who hung up; smaller reads slower.
BATCH_TOKENS = 256
# The model that was asked last, and the turns that it had read before the passage.
_Opening = tuple[str, list[dict[str, str]]]


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
    """Start llama.cpp on a model file; on the way out its threads, memory and port are gone.

    `concurrency` passages share each pass over the weights (continuous batching); each has `window` tokens.
    `repeatable` gives the same answer to the same prompt whatever was asked before; with one slot, that is. `adapters`
    are models of their own on the same weights, and `default_model` is the one that "default" stands for, `name` if
    left out.
    """
    card = read_merged_card(path.parent)
    server = _Server()
    await asyncio.to_thread(
        server.start,
        path,
        name=name,
        concurrency=concurrency,
        window=window,
        threads=threads,
        adapters=adapters,
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
    """One fewer than the cores that we may use.

    llama.cpp's threads wait for each other after every operation, so one that has to share its core holds up all:
    beside a busy neighbour two threads on two cores ran several times slower than one.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(1, allowed - 1)


def revision_on_base(base: Model, adapter: GgufAdapter) -> Model:
    """An adapter is what it is on its base."""
    return replace(
        base,
        name=adapter.name,
        format=adapter.format,
        revision=f"{base.revision}+{adapter.revision}",
        edit_filter=adapter.card.gate,
        languages=adapter.card.languages,
    )


class EmbeddedEngine(OpenAIEngine):
    """The client of our own llama.cpp, which can also count tokens and tell how busy it is."""

    # llama.cpp often closes a connection after a stream though it promised to keep it, and a request that comes at once
    # is lost (measured: 12 of 600). A new connection on loopback costs less than any of the retries.
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
        # A slow machine may take long over a prompt before its first token, and nobody else can hang it.
        super().__init__(
            f"{address}/v1",
            api_key=key,
            default_model=name,
            concurrency=concurrency,
            timeout_seconds=300,
            retry=retry,
        )
        self._address = address
        self._revision = revision
        # llama.cpp notices a caller who hung up only when it writes. Reports of progress make it write after every
        # batch of the prompt, so that cancelling four long prompts frees the slots in seconds (measured: 54 s without).
        self.extra_body = {"return_progress": True}
        self._repeatable = repeatable
        self.adapters = tuple(adapters)
        self._default_name = default_model or name
        self._card = card
        self._opening: _Opening | None = None

    async def models(self) -> tuple[Model, ...]:
        """The model of the file, with the file's revision, and its adapters."""
        (base,) = await super().models()
        base = apply_card(replace(base, revision=self._revision), self._card)
        served = (base, *(revision_on_base(base, adapter) for adapter in self.adapters))
        self._known = tuple(sorted(served, key=lambda model: model.name != self._default_name))
        return self._known

    def body_for(self, prompt: Prompt, model: Model) -> Mapping[str, object]:
        """Progress, the adapter; and for a repeatable text that nothing is kept, as two have no turns in common."""
        kept = {"cache_prompt": False} if self._repeatable and isinstance(prompt.body, str) else {}
        return {**(self.extra_body or {}), **self._chosen(model), **kept}

    def _chosen(self, model: Model) -> dict[str, object]:
        """Every adapter with its share: an empty list would mean those of the start, and what is left out stays on."""
        shares = [
            {"id": number, "scale": float(adapter.name == model.name)}
            for number, adapter in enumerate(self.adapters)
        ]
        return {"lora": shares} if shares else {}

    async def _begin(self, prompt: Prompt, parameters: dict[str, Any], model: Model) -> Stream:
        if isinstance(prompt.body, str):
            self._opening = None
        elif self._repeatable:
            turns = [{"role": turn.role, "content": turn.content} for turn in prompt.body[:-1]]
            await self._reopen(turns, model)
        return await super()._begin(prompt, parameters, model)

    async def _reopen(self, opening: list[dict[str, str]], model: Model) -> None:
        """Bring the slot to where the turns that all prompts begin with end, and nowhere else.

        llama.cpp keeps as much of the prompt before as the next one has in common with it, and reads the rest in
        batches from there; batches of another size round differently (measured: 3 of 28 passages changed with the order
        in which they came). So each prompt finds the same tokens kept, and they were read in the same batches. To keep
        nothing would do as well, and reads the instructions again for every passage.
        """
        if (model.name, opening) != self._opening:
            await self._read(opening, model, cache_prompt=False)
            self._opening = (model.name, opening)
        await self._read(opening, model, cache_prompt=True)

    async def _read(self, opening: list[dict[str, str]], model: Model, *, cache_prompt: bool) -> None:
        messages: Any = opening
        await self._client.chat.completions.create(
            model=model.name,
            messages=messages,
            max_tokens=1,
            extra_body={"cache_prompt": cache_prompt, **self._chosen(model)},
        )

    async def count(self, text: str) -> int | None:
        """The exact number of tokens."""
        return len(await self.tokens(text))

    async def tokens(self, *parts: str | int, as_prompt: bool = False) -> list[int]:
        """What llama.cpp reads, each text by itself; numbers among them stay as they are.

        As a prompt, the first text gets what the model has every prompt begin or end with.
        """
        body = {"content": list(parts), "add_special": as_prompt}
        try:
            reply = await self._client.post(
                f"{self._address}/tokenize", body=body, cast_to=dict[str, list[int]]
            )
        except openai.OpenAIError as error:
            raise translate_error(error) from error
        return reply["tokens"]

    async def busy(self) -> int:
        """How many slots are at work."""
        slots = await self._client.get(f"{self._address}/slots", cast_to=list[dict[str, Any]])
        return sum(bool(slot["is_processing"]) for slot in slots)


class _Server:
    """A running llama.cpp server and the key to it."""

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
        """Load the model and listen; the port is the system's choice."""
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
        # By default it keeps a copy of every prompt it has read, up to 8 GB. A passage is read once, and what all
        # prompts begin with is in each slot anyway.
        parameters.cache_ram_mib = 0
        # Loaded, and off until a request asks for one.
        parameters.lora_adapters = [
            xllamacpp.CommonAdapterLoraInfo(str(adapter.path), 0.0) for adapter in adapters
        ]
        parameters.ui = False
        parameters.verbosity = -1
        for pool in (parameters.cpuparams, parameters.cpuparams_batch):
            pool.n_threads = threads or default_threads()
            pool.poll = 0  # waiting threads that spin starve the Python side of this same process
        try:
            self._handle = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise ModelError(
                f"{path} can't be loaded as a model ({error}). Is it a complete GGUF file of a known architecture?"
            ) from error
        self.address = self._handle.listening_address

    def stop(self) -> None:
        """Dropping the only handle joins the server's threads and frees its port."""
        self._handle = None

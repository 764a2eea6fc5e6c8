"""Client of a vLLM server that loads and unloads adapters at run time."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import openai

from ape.adapters import AdapterCard
from ape.engines import EngineHealth, Model, Reply, Sampling
from ape.engines.client import OpenAIEngine
from ape.engines.merged_model import apply_card, apply_profile
from ape.engines.retry import RetryPolicy, translate_error
from ape.errors import ApeError, EngineError, EngineUnavailable, NoRoom
from ape.models.profile import read_base_profile
from ape.passage.events import Listener
from ape.passage.segment import Draft
from prompts import Prompt

LOAD_SECONDS = 300.0
POLL_SECONDS = 0.25
_MEMORY = re.compile(
    r"out of memory|can't allocate|cannot allocate|not enough memory|MemoryError|\bOOM\b", re.IGNORECASE
)


class VllmServer(Protocol):
    """Address and state of a vLLM server."""

    @property
    def url(self) -> str:
        """The base URL, ending in /v1; it changes with each start."""
        ...

    @property
    def key(self) -> str:
        """The API key."""
        ...

    @property
    def max_lora_rank(self) -> int | None:
        """The largest LoRA rank that it can serve, if known."""
        ...

    def require_ready(self) -> None:
        """Raise EngineUnavailable with an estimate of the wait if it is not up."""
        ...

    def health(self) -> EngineHealth | None:
        """Its health, if it is supervised."""
        ...


@dataclass(frozen=True, slots=True)
class ExternalVllm:
    """A vLLM server that we did not start."""

    url: str
    key: str
    max_lora_rank: int | None = None

    def require_ready(self) -> None:
        """Return at once: only the next request can show its state."""

    def health(self) -> None:
        """Not supervised here."""


@dataclass(frozen=True, slots=True)
class VllmListedModel:
    """A model as vLLM lists it: `root` is its directory or hub id, `parent` is the base of an adapter."""

    name: str
    root: str
    parent: str | None
    window: int | None


class VllmEngine(OpenAIEngine):
    """Client of a vLLM server. It lists the base model only; adapters are in the ModelRegistry.

    `card` is the card of a base into which an adapter was merged.
    """

    def __init__(
        self,
        server: VllmServer,
        *,
        concurrency: int,
        timeout_seconds: float,
        retry: RetryPolicy | None = None,
        card: AdapterCard | None = None,
    ) -> None:
        super().__init__(
            server.url, api_key=server.key, concurrency=concurrency, timeout_seconds=timeout_seconds, retry=retry
        )
        self.server = server
        self.card = card

    @property
    def max_rank(self) -> int | None:
        """The largest LoRA rank that it was started for."""
        return self.server.max_lora_rank

    def health(self) -> EngineHealth:
        """The health that the supervisor knows, or else by the last request."""
        return self.server.health() or super().health()

    async def models(self) -> tuple[Model, ...]:
        """The base model, as its card or else its profile says it is queried."""
        self.server.require_ready()
        self._known = tuple(self._base(one) for one in await self.listed() if one.parent is None)
        return self._known

    def _base(self, listed: VllmListedModel) -> Model:
        model = Model(listed.name, listed.window)
        return apply_card(model, self.card) if self.card else apply_profile(model, read_base_profile(listed.root))

    async def listed(self) -> list[VllmListedModel]:
        """All models that vLLM lists, also while it is not ready for requests."""
        self._reconnect()
        try:
            page = await self._client.get("/models", cast_to=dict[str, Any])
            self._answers = True
            return [
                VllmListedModel(str(one["id"]), str(one.get("root")), one.get("parent"), one.get("max_model_len"))
                for one in page["data"]
            ]
        except openai.OpenAIError as error:
            self._answers = not isinstance(error, openai.APIConnectionError)
            raise translate_error(error) from error
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise EngineError("vLLM's list of models can't be read. Is the address right?") from error

    async def window(self) -> int | None:
        """The context length, also while it is starting."""
        return next((one.window for one in await self.listed() if one.parent is None), None)

    async def count(self, text: str) -> int | None:
        """The exact number of tokens, by vLLM's own tokenizer."""
        body = {"prompt": text, "add_special_tokens": False}
        self._reconnect()
        try:
            reply = await self._client.post(f"{self._root}/tokenize", body=body, cast_to=dict[str, Any])
        except openai.OpenAIError:
            return None  # a proxy may lack the call; the server refuses prompts that are too long
        count = reply.get("count")
        return count if isinstance(count, int) else None

    async def load(self, name: str, directory: Path) -> None:
        """Load the adapter; vLLM reads it at once, so a damaged one fails here."""
        body = {"lora_name": name, "lora_path": str(directory)}
        try:
            try:
                await self._send_adapter_call("load_lora_adapter", body)
            except openai.BadRequestError as error:
                if "already been loaded" not in _server_message(error):
                    raise
                await self.unload(name)  # loaded by a call whose response was lost
                await self._send_adapter_call("load_lora_adapter", body)
        except openai.APIStatusError as error:
            raise _not_loaded(name, error) from error
        except openai.OpenAIError as error:
            raise translate_error(error) from error

    async def unload(self, name: str) -> None:
        """Unload the adapter; nothing happens if vLLM does not have it."""
        try:
            await self._send_adapter_call("unload_lora_adapter", {"lora_name": name})
        except openai.NotFoundError:
            pass
        except openai.OpenAIError as error:
            raise translate_error(error) from error

    async def metrics(self) -> str:
        """The metrics of vLLM, in the Prometheus text format."""
        self.server.require_ready()
        self._reconnect()
        try:
            return await self._client.get(f"{self._root}/metrics", cast_to=str)
        except openai.OpenAIError as error:
            raise translate_error(error) from error

    async def _once(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        await self._wait_until_ready()
        self._reconnect()
        try:
            reply = await super()._once(prompt, sampling, model=model, listen=listen)
            return replace(reply, draft=_drop_end_token(reply.draft))
        except EngineError:
            # If it died during this request, report when it will be back rather than the broken connection.
            self.server.require_ready()
            raise

    async def _wait_until_ready(self) -> None:
        """Wait for a restart if it will be done within the retry time; raise at once otherwise."""
        deadline = time.monotonic() + self._retry.total_seconds
        while True:
            try:
                self.server.require_ready()
                return
            except EngineUnavailable as error:
                if error.retry_after is None or time.monotonic() + error.retry_after > deadline:
                    raise
                await asyncio.sleep(POLL_SECONDS)

    async def _send_adapter_call(self, call: str, body: dict[str, str]) -> None:
        self._reconnect()
        await self._client.post(f"/{call}", body=body, cast_to=str, options={"timeout": LOAD_SECONDS, "max_retries": 0})

    def _reconnect(self) -> None:
        """Follow the server to its new port and key after a restart."""
        if self.url != self.server.url:
            self.url = self.server.url
            self._client.base_url = self.url
            self._client.api_key = self.server.key

    def require_ready(self) -> None:
        """Raise EngineUnavailable with an estimate of the wait if it is not up."""
        self.server.require_ready()

    async def has_adapter(self, name: str) -> bool:
        """Whether vLLM has loaded an adapter of that name."""
        return any(one.name == name and one.parent is not None for one in await self.listed())

    @property
    def _root(self) -> str:
        return self.url.removesuffix("/").removesuffix("/v1")


def _drop_end_token(draft: Draft) -> Draft:
    """Drop logprobs beyond the text of the draft.

    vLLM also reports the end token and a stop string that it cut off; llama.cpp does not. An edit filter fitted on
    drafts of llama.cpp would otherwise weigh an edit at the very end differently.
    """
    ends = accumulate((len(one.text) for one in draft.logprobs), initial=0)
    own = sum(end < len(draft.text) for end in ends)
    return replace(draft, logprobs=draft.logprobs[:own])


def _not_loaded(name: str, error: openai.APIStatusError) -> ApeError:
    said = _server_message(error)
    if _MEMORY.search(said):
        return NoRoom(f"vLLM has no memory for another adapter ({said}). Unload one first; the others stay loaded.")
    if error.status_code == 404 and "lora" not in said.lower():
        return EngineError(
            "This vLLM loads no adapters at run time. Start it with --enable-lora and "
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1."
        )
    return EngineError(f"vLLM could not load the adapter {name}: {said}")


def _server_message(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error.response.text or error.response.reason_phrase)[:500]

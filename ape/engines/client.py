"""The one client: every model is asked through the OpenAI HTTP dialect, always as a stream.

A stream, even when nobody watches, because closing it is the only way to stop a generation: llama.cpp goes on
with a plain request after the caller has hung up (measured: 4 s later its slot was still busy).
"""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, ClassVar, Self

import openai
from openai import AsyncStream, RequestOptions
from openai.types import Completion, CompletionChoice
from openai.types.chat import ChatCompletionChunk

from ape.engines.logprobs import read_logprobs
from ape.engines.protocol import EngineHealth, Model, Reply, Sampling, pick_model
from ape.engines.retry import RetryPolicy, is_context_overflow, retry_loop, translate_error
from ape.errors import EngineError, EngineTimeout, EngineUnavailable, UnknownModel
from ape.network import is_loopback, url_host
from ape.passage.events import Listener, TokenEvent, ignore_event
from ape.passage.request_id import request_id
from ape.passage.result import Usage
from ape.passage.segment import Draft, TokenLogprobs
from prompts import Prompt

# What comes of reading JSON that has not the shape it should: the client library checks none of it.
MALFORMED_REPLY_ERRORS = (AttributeError, LookupError, TypeError, ValueError)
MAX_ANSWER_SECONDS = 900.0
UNSUPPORTED_CALL_STATUSES = (404, 405, 501)
UNKNOWN_PARAMETER_CODES = ("unsupported_parameter", "unsupported_value")
Chunk = ChatCompletionChunk | Completion
Stream = AsyncStream[ChatCompletionChunk] | AsyncStream[Completion]


class OpenAIEngine:
    """A server that speaks the OpenAI dialect, with retries and a limit of requests in flight."""

    extra_body: Mapping[str, object] | None = None
    headers: ClassVar[dict[str, str] | None] = None

    def __init__(
        self,
        url: str,
        *,
        api_key: str,
        default_model: str | None = None,
        concurrency: int = 8,
        timeout_seconds: float = 60.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.url = url
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=api_key,
            max_retries=0,
            default_headers=self.headers,
            timeout=openai.Timeout(timeout_seconds, connect=10.0),
            # A proxy for the world outside knows nothing of this machine's own ports.
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not is_loopback(url_host(url))),
        )
        self._default_model = default_model
        self._semaphore = asyncio.Semaphore(concurrency)
        self._retry = retry or RetryPolicy()
        self._known: tuple[Model, ...] = ()
        self._answers = True
        self._unknown: defaultdict[str, set[str]] = defaultdict(set)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """Draw one draft; a try that fails in passing is made again, from its first token."""
        # It is held while waiting to retry: more requests do not help a server in trouble.
        async with self._semaphore:
            async for attempt in retry_loop(self._retry, listen):
                with attempt:
                    return await self._once(prompt, sampling, model=model, listen=listen)
        raise AssertionError("unreachable: the loop returns or raises")

    async def count(self, text: str) -> int | None:
        """None: the dialect has no call for it."""
        return None

    async def models(self) -> tuple[Model, ...]:
        """What the server lists, with the one that was asked for on the command line first."""
        try:
            listed = [_model(entry.to_dict()) async for entry in self._client.models.list()]
        except openai.APIStatusError as error:
            if error.status_code not in UNSUPPORTED_CALL_STATUSES or not self._default_model:
                raise translate_error(error) from error
            listed = []  # some servers have the one model and no list
        except openai.OpenAIError as error:
            self._answers = not isinstance(error, openai.APIConnectionError)
            raise translate_error(error) from error
        except MALFORMED_REPLY_ERRORS as error:
            raise EngineError(
                "The model server's list of models can't be read. Is the address right?"
            ) from error
        self._answers = True
        chosen = [model for model in listed if model.name == self._default_model]
        if self._default_model and not chosen:
            chosen = [Model(self._default_model)]
        self._known = (*chosen, *(model for model in listed if model not in chosen))
        return self._known

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """The model of that name. What the server does with it meanwhile is the server's business."""
        yield await self._model(name)

    async def _model(self, name: str) -> Model:
        """Known, or else looked for in the server's list."""
        with suppress(EngineUnavailable, UnknownModel):
            return pick_model(self._known, name)
        async for attempt in retry_loop(self._retry, ignore_event):
            with attempt:
                return pick_model(await self.models(), name)
        raise AssertionError("unreachable: the loop returns or raises")

    def health(self) -> EngineHealth:
        """Whether the last request reached it."""
        return EngineHealth("up" if self._answers else "down")

    async def _once(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        try:
            # The client's own time-out is for silence alone, and a server can be busy saying nothing.
            async with asyncio.timeout(MAX_ANSWER_SECONDS):
                stream = await self._open(prompt, sampling, model)
                async with stream:
                    reply = await _collect_draft(stream, sampling.max_characters, listen)
        except TimeoutError as error:
            self._answers = False
            raise EngineTimeout("The model server did not come to an end in time.") from error
        except (openai.OpenAIError, ValueError) as error:
            self._answers = not isinstance(error, openai.APIConnectionError)  # a time-out is one of these
            raise translate_error(error) from error
        self._answers = True
        return reply

    async def _open(self, prompt: Prompt, sampling: Sampling, model: Model) -> Stream:
        """Begin the answer. A server that does not know one of the parameters is asked again without it."""
        unknown = self._unknown[model.name]
        capped = True
        while True:
            parameters = _parameters(prompt, sampling, without=unknown, capped=capped)
            try:
                stream = await self._begin(prompt, parameters, model)
            except openai.BadRequestError as error:
                if capped and is_context_overflow(error):
                    # Servers refuse a cap that passes the window, though the answer itself may well fit.
                    capped = False
                elif error.code in UNKNOWN_PARAMETER_CODES and error.param in parameters:
                    unknown.add(error.param)
                else:
                    raise
            else:
                return await _require_stream(stream)

    def body_for(self, prompt: Prompt, model: Model) -> Mapping[str, object] | None:
        """What goes with a request besides what the dialect knows."""
        return self.extra_body

    async def _begin(self, prompt: Prompt, parameters: dict[str, Any], model: Model) -> Stream:
        """Send the question, by the client's own `post`.

        Its `create` walks through the types of every parameter there could be, for which it took a quarter of the
        time of a request, and ours are plain JSON already.
        """
        body = {**parameters, "model": model.name, "stream": True, **(self.body_for(prompt, model) or {})}
        # The key of this server alone: left out, an administrator's key of the environment may go along.
        options: RequestOptions = {"headers": _trace(), "security": {"bearer_auth": True}}
        if isinstance(prompt.body, str):
            return await self._client.post(
                "/completions",
                body=body | {"prompt": prompt.body},
                options=options,
                cast_to=Completion,
                stream=True,
                stream_cls=AsyncStream[Completion],
            )
        messages = [{"role": turn.role, "content": turn.content} for turn in prompt.body]
        return await self._client.post(
            "/chat/completions",
            body=body | {"messages": messages},
            options=options,
            cast_to=ChatCompletionChunk,
            stream=True,
            stream_cls=AsyncStream[ChatCompletionChunk],
        )


def _trace() -> dict[str, str]:
    """The id of the request under way, made unique: one request may ask for several drafts at once."""
    current = request_id.get()
    return {"X-Request-Id": f"{current}.{secrets.token_hex(4)}"} if current else {}


async def _require_stream(stream: Stream) -> Stream:
    kind = stream.response.headers.get("content-type", "")
    if "event-stream" in kind:
        return stream
    await stream.close()
    raise EngineError(f"The model server does not stream: it answered with {kind or 'something untold'}.")


def _parameters(prompt: Prompt, sampling: Sampling, *, without: set[str], capped: bool) -> dict[str, Any]:
    """What goes with the messages. Reasoning models of OpenAI know no `max_tokens`, but another name for it."""
    parameters: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "max_completion_tokens" if "max_tokens" in without else "max_tokens": sampling.max_tokens,
        "stop": [*prompt.stop, *sampling.stop],
        "stream_options": {"include_usage": True},
    } | _logprob_parameters(prompt, sampling.alternatives)
    left_out = without if capped else {*without, "max_tokens", "max_completion_tokens"}
    # Left out, a chat goes on to the end of the window, but a text for 16 tokens, unless the cap is null.
    uncapped = {} if capped or not isinstance(prompt.body, str) else {"max_tokens": None}
    return {name: value for name, value in parameters.items() if name not in left_out} | uncapped


def _logprob_parameters(prompt: Prompt, alternatives: int) -> dict[str, Any]:
    if not alternatives:
        return {}
    if isinstance(prompt.body, str):
        return {"logprobs": alternatives}
    return {"logprobs": True, "top_logprobs": alternatives}


async def _collect_draft(chunks: AsyncIterator[Chunk], max_characters: int, listen: Listener) -> Reply:
    """Put the pieces together; leaving early closes the stream and so stops the server."""
    pieces: list[str] = []
    chances: list[TokenLogprobs] = []
    length, reason, usage = 0, None, Usage()
    async for chunk in chunks:
        try:
            usage = _usage(chunk) or usage
            text, reason_now = _piece(chunk)
            chances += _logprobs(chunk)
        except MALFORMED_REPLY_ERRORS as error:
            raise EngineError("The model server sent something that is no answer.") from error
        reason = reason_now or reason
        if text:
            pieces.append(text)
            length += len(text)
            listen(TokenEvent(text))
            if length > max_characters:
                return Reply(
                    Draft("".join(pieces), "length", tuple(chances)), Usage(usage.prompt_tokens, len(pieces))
                )
    if reason is None:
        raise EngineError("The model server broke off in the middle of its answer.")
    return Reply(Draft("".join(pieces), reason, tuple(chances)), usage)


def _usage(chunk: Chunk) -> Usage | None:
    """The tokens an event tells of; a number that is none is counted as 0."""
    if chunk.usage:
        told = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        return Usage(*(count if isinstance(count, int) else 0 for count in told))
    progress = (chunk.model_extra or {}).get("prompt_progress")
    return Usage(int(progress["total"]), 0) if progress else None


def _piece(chunk: Chunk) -> tuple[str, str | None]:
    """The text of an event, and why the answer ends, if it does."""
    if not chunk.choices:
        return "", None
    choice = chunk.choices[0]
    text: object = (
        choice.text if isinstance(choice, CompletionChoice) else choice.delta and choice.delta.content
    )
    if not isinstance(text, str | None):
        raise TypeError("the text is no text")
    return text or "", choice.finish_reason


def _logprobs(chunk: Chunk) -> list[TokenLogprobs]:
    told = chunk.choices[0].logprobs if chunk.choices else None
    return list(read_logprobs(told.to_dict())) if told else []


def _model(entry: dict[str, Any]) -> Model:
    """A listed model; vLLM and llama.cpp each tell the window in a place of their own."""
    meta = entry.get("meta")
    window = entry.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return Model(str(entry["id"]), int(window) if window else None)

"""Client for the OpenAI HTTP API, through which every model is called. Replies are always streamed.

Closing the stream is the only way to stop a generation: llama.cpp continues a plain request after the caller has
disconnected (measured: its slot was still busy 4 s later).
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
from ape.passage.options import SamplingOptions, option_values
from ape.passage.request_id import request_id
from ape.passage.result import Usage
from ape.passage.segment import Draft, TokenLogprobs
from prompts import Prompt

# Errors from reading JSON of an unexpected shape; the client library does not validate it.
MALFORMED_REPLY_ERRORS = (AttributeError, LookupError, TypeError, ValueError)
MAX_ANSWER_SECONDS = 900.0
UNSUPPORTED_CALL_STATUSES = (404, 405, 501)
UNKNOWN_PARAMETER_CODES = ("unsupported_parameter", "unsupported_value")
Chunk = ChatCompletionChunk | Completion
Stream = AsyncStream[ChatCompletionChunk] | AsyncStream[Completion]


class OpenAIEngine:
    """An OpenAI-compatible server, with retries and a limit on concurrent requests."""

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
        prediction: bool = False,
    ) -> None:
        self.url = url
        self._prediction = prediction
        self._client = openai.AsyncOpenAI(
            base_url=url,
            api_key=api_key,
            max_retries=0,
            default_headers=self.headers,
            timeout=openai.Timeout(timeout_seconds, connect=10.0),
            # Proxy settings do not apply to loopback addresses.
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
        """Generate one draft; after a transient failure it is generated again from the first token."""
        # Held between attempts too: more requests do not help a server in trouble.
        async with self._semaphore:
            async for attempt in retry_loop(self._retry, listen):
                with attempt:
                    return await self._once(prompt, sampling, model=model, listen=listen)
        raise AssertionError("unreachable: the loop returns or raises")

    async def count(self, text: str) -> int | None:
        """None: the OpenAI API has no such call."""
        return None

    async def models(self) -> tuple[Model, ...]:
        """The models that the server lists, the default model first."""
        try:
            listed = [_model(entry.to_dict()) async for entry in self._client.models.list()]
        except openai.APIStatusError as error:
            if error.status_code not in UNSUPPORTED_CALL_STATUSES or not self._default_model:
                raise translate_error(error) from error
            listed = []  # servers of a single model may have no list
        except openai.OpenAIError as error:
            self._answers = not isinstance(error, openai.APIConnectionError)
            raise translate_error(error) from error
        except MALFORMED_REPLY_ERRORS as error:
            raise EngineError("The model server's list of models can't be read. Is the address right?") from error
        self._answers = True
        chosen = [model for model in listed if model.name == self._default_model]
        if self._default_model and not chosen:
            chosen = [Model(self._default_model)]
        self._known = (*chosen, *(model for model in listed if model not in chosen))
        return self._known

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """The model of that name; the server decides whether it stays loaded."""
        yield await self._model(name)

    async def _model(self, name: str) -> Model:
        """Find a model among the known ones, or else in the server's list."""
        with suppress(EngineUnavailable, UnknownModel):
            return pick_model(self._known, name)
        async for attempt in retry_loop(self._retry, ignore_event):
            with attempt:
                return pick_model(await self.models(), name)
        raise AssertionError("unreachable: the loop returns or raises")

    def health(self) -> EngineHealth:
        """Whether the last request reached the server."""
        return EngineHealth("up" if self._answers else "down")

    async def _once(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        try:
            # The client's own timeout only covers silence; a server may also stream without end.
            async with asyncio.timeout(MAX_ANSWER_SECONDS):
                stream = await self._open(prompt, sampling, model)
                async with stream:
                    reply = await _collect_draft(stream, sampling.max_characters, listen)
        except TimeoutError as error:
            self._answers = False
            raise EngineTimeout("The model server did not finish its answer in time.") from error
        except (openai.OpenAIError, ValueError) as error:
            self._answers = not isinstance(error, openai.APIConnectionError)  # the base class of timeouts
            raise translate_error(error) from error
        self._answers = True
        return reply

    async def _open(self, prompt: Prompt, sampling: Sampling, model: Model) -> Stream:
        """Open the stream. Parameters that the server does not support are dropped one by one."""
        unknown = self._unknown[model.name]
        capped = True
        while True:
            parameters = _parameters(prompt, sampling, without=unknown, capped=capped)
            if self._prediction and "prediction" not in unknown and _allows_prediction(prompt, sampling):
                parameters = _with_prediction(parameters, prompt)
            try:
                stream = await self._begin(prompt, parameters, model)
            except openai.BadRequestError as error:
                if capped and is_context_overflow(error):
                    # Servers refuse a max_tokens beyond the window, although the answer itself may fit.
                    capped = False
                elif error.code in UNKNOWN_PARAMETER_CODES and error.param in parameters:
                    unknown.add(error.param)
                else:
                    raise
            else:
                return await _require_stream(stream)

    def body_for(self, prompt: Prompt, model: Model) -> Mapping[str, object] | None:
        """Extensions of the OpenAI API to send with a request."""
        return self.extra_body

    async def _begin(self, prompt: Prompt, parameters: dict[str, Any], model: Model) -> Stream:
        """Send the request with the client's `post`.

        Its `create` converts every possible parameter, which took a quarter of the time of a request; ours are plain
        JSON already.
        """
        body = {**parameters, "model": model.name, "stream": True, **(self.body_for(prompt, model) or {})}
        # Without "security" the client may also send an administrator's key from the environment.
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
    """The id of the current request with a random suffix, since one request may need several drafts."""
    current = request_id.get()
    return {"X-Request-Id": f"{current}.{secrets.token_hex(4)}"} if current else {}


async def _require_stream(stream: Stream) -> Stream:
    kind = stream.response.headers.get("content-type", "")
    if "event-stream" in kind:
        return stream
    await stream.close()
    raise EngineError(f"The model server does not stream: it answered with {kind or 'no content type'}.")


def _parameters(prompt: Prompt, sampling: Sampling, *, without: set[str], capped: bool) -> dict[str, Any]:
    """Decoding parameters. OpenAI's reasoning models have `max_completion_tokens` instead of `max_tokens`."""
    parameters: dict[str, Any] = {
        **{name: value for name, value in option_values(sampling, SamplingOptions).items() if value is not None},
        "max_completion_tokens" if "max_tokens" in without else "max_tokens": sampling.max_tokens,
        "stop": [*prompt.stop, *sampling.stop],
        "stream_options": {"include_usage": True},
    } | _logprob_parameters(prompt, sampling.alternatives)
    left_out = without if capped else {*without, "max_tokens", "max_completion_tokens"}
    # Without max_tokens a chat may fill the window, but a completion stops after 16 tokens unless it is null.
    uncapped = {} if capped or not isinstance(prompt.body, str) else {"max_tokens": None}
    return {name: value for name, value in parameters.items() if name not in left_out} | uncapped


def _allows_prediction(prompt: Prompt, sampling: Sampling) -> bool:
    """Predicted outputs are for chats, and come without log-probabilities."""
    return not isinstance(prompt.body, str) and not sampling.alternatives


def _with_prediction(parameters: dict[str, Any], prompt: Prompt) -> dict[str, Any]:
    """Predict that the MT stays as it is. A limit of tokens can't be sent then; a runaway is stopped by its length."""
    uncapped = {
        name: value for name, value in parameters.items() if name not in ("max_tokens", "max_completion_tokens")
    }
    return uncapped | {"prediction": {"type": "content", "content": prompt.unedited_reply}}


def _logprob_parameters(prompt: Prompt, alternatives: int) -> dict[str, Any]:
    if not alternatives:
        return {}
    if isinstance(prompt.body, str):
        return {"logprobs": alternatives}
    return {"logprobs": True, "top_logprobs": alternatives}


async def _collect_draft(chunks: AsyncIterator[Chunk], max_characters: int, listen: Listener) -> Reply:
    """Join the pieces of the stream; returning early closes it and so stops the server."""
    pieces: list[str] = []
    logprobs: list[TokenLogprobs] = []
    length, reason, usage = 0, None, Usage()
    async for chunk in chunks:
        try:
            usage = _usage(chunk) or usage
            text, reason_now = _piece(chunk)
            logprobs += _logprobs(chunk)
        except MALFORMED_REPLY_ERRORS as error:
            raise EngineError("The model server sent an answer that can't be read.") from error
        reason = reason_now or reason
        if text:
            pieces.append(text)
            length += len(text)
            listen(TokenEvent(text))
            if length > max_characters:
                return Reply(Draft("".join(pieces), "length", tuple(logprobs)), Usage(usage.prompt_tokens, len(pieces)))
    if reason is None:
        raise EngineError("The model server broke off in the middle of its answer.")
    return Reply(Draft("".join(pieces), reason, tuple(logprobs)), usage)


def _usage(chunk: Chunk) -> Usage | None:
    """The token counts of an event; anything other than a number counts as 0."""
    if chunk.usage:
        details = chunk.usage.completion_tokens_details
        predicted = (getattr(details, f"{state}_prediction_tokens", None) for state in ("accepted", "rejected"))
        counts = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens, *predicted)
        return Usage(*(count if isinstance(count, int) else 0 for count in counts))
    progress = (chunk.model_extra or {}).get("prompt_progress")
    return Usage(int(progress["total"]), 0) if progress else None


def _piece(chunk: Chunk) -> tuple[str, str | None]:
    """The text of an event and the finish reason, if any."""
    if not chunk.choices:
        return "", None
    choice = chunk.choices[0]
    text: object = choice.text if isinstance(choice, CompletionChoice) else choice.delta and choice.delta.content
    if not isinstance(text, str | None):
        raise TypeError("the text is not a string")
    return text or "", choice.finish_reason


def _logprobs(chunk: Chunk) -> list[TokenLogprobs]:
    logprobs = chunk.choices[0].logprobs if chunk.choices else None
    return list(read_logprobs(logprobs.to_dict())) if logprobs else []


def _model(entry: dict[str, Any]) -> Model:
    """A listed model; vLLM and llama.cpp have the context length under different keys."""
    meta = entry.get("meta")
    window = entry.get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    return Model(str(entry["id"]), int(window) if window else None)

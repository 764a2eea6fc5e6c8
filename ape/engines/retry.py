"""Retries of requests to a model server: on 429, 5xx, timeouts and broken streams, never on other 4xx."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from ape.errors import EngineError, EngineRefused, EngineTimeout, EngineUnavailable, KeyRefused, TooLong
from ape.passage.events import Listener, RetryEvent

# Messages of llama.cpp, OpenAI and vLLM about a prompt that is too long.
_CONTEXT = re.compile("exceed_context_size|context_length_exceeded|maximum context length")
# A server may ask for any wait, even an infinite one.
MAX_RETRY_AFTER_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number of attempts and waits between them. `total_seconds` limits requests and waits together."""

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 20.0
    total_seconds: float = 180.0


def retry_loop(policy: RetryPolicy, listen: Listener) -> AsyncRetrying:
    """A new loop of attempts under the policy; the listener gets an event before each wait."""
    jittered = wait_exponential_jitter(multiplier=policy.first_wait, max=policy.longest_wait, jitter=policy.first_wait)

    def wait(state: RetryCallState) -> float:
        """The server's Retry-After, or else exponential backoff."""
        retry_after = getattr(_error(state), "retry_after", None)
        return float(retry_after) if retry_after is not None else jittered(state)

    def out_of_time(state: RetryCallState) -> bool:
        """Whether the next attempt would begin after the time limit."""
        return (state.seconds_since_start or 0.0) + state.upcoming_sleep > policy.total_seconds

    def notify(state: RetryCallState) -> None:
        listen(RetryEvent(reason=str(_error(state)), wait_seconds=round(state.upcoming_sleep, 3)))

    return AsyncRetrying(
        retry=retry_if_exception(is_transient),
        wait=wait,
        stop=lambda state: stop_after_attempt(policy.attempts)(state) or out_of_time(state),
        before_sleep=notify,
        reraise=True,
    )


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def is_transient(error: BaseException) -> bool:
    """Whether a retry may help."""
    return isinstance(error, EngineError) and not isinstance(error, EngineRefused)


def translate_error(error: Exception) -> Exception:
    """Translate an error of the client library into one of ours."""
    if isinstance(error, openai.APITimeoutError):
        return EngineTimeout("The model server did not answer in time.")
    if isinstance(error, openai.APIStatusError):
        return _by_status(error)
    if isinstance(error, openai.APIConnectionError):
        return EngineUnavailable(f"The model server can't be reached or broke off ({_cause(error)}).")
    if isinstance(error, openai.OpenAIError):
        return EngineError(f"The model server reported an error: {error}")
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return EngineError("The model server sent something that is not JSON.")
    return error


def _by_status(error: openai.APIStatusError) -> Exception:
    status, message = error.status_code, _server_message(error)
    if status == 429 or status == 503:
        wait = _retry_after(error)
        return EngineUnavailable(f"The model server is overloaded ({status}: {message}).", retry_after=wait)
    if status in (408, 504):
        return EngineTimeout(f"The model server timed out ({status}: {message}).")
    if status >= 500:
        return EngineError(f"The model server failed ({status}: {message}).", retry_after=_retry_after(error))
    if is_context_overflow(error):
        limit, actual = _numbers(error)
        return TooLong(f"The passage does not fit the model's window: {message}", actual=actual, limit=limit)
    if status in (401, 403):
        return KeyRefused(f"The model server rejected the key ({status}: {message}). Set APE_ENGINE_KEY.")
    return EngineRefused(f"The model server refused the request ({status}: {message}).")


def is_context_overflow(error: openai.APIStatusError) -> bool:
    """Whether the server refused because prompt and answer together are too long."""
    return _CONTEXT.search(f"{error.type} {error.code} {_server_message(error)}") is not None


def _numbers(error: openai.APIStatusError) -> tuple[int | None, int | None]:
    """The window and the required tokens, if the server reports them."""
    body = error.body if isinstance(error.body, dict) else {}
    window, required = body.get("n_ctx"), body.get("n_prompt_tokens")
    if isinstance(window, int) and isinstance(required, int):
        return window, required
    found = [int(number) for number in re.findall(r"(\d{1,9})(?: input)? tokens", _server_message(error))]
    return (found[0], found[1]) if len(found) > 1 else (None, None)


def _server_message(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    text = str(message or error.response.reason_phrase or "no reason given")
    return text.encode("utf-8", "backslashreplace").decode()[:300]


def _retry_after(error: openai.APIStatusError) -> float | None:
    header = error.response.headers.get("retry-after", "")
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(0.0, seconds), MAX_RETRY_AFTER_SECONDS)


def _cause(error: openai.APIConnectionError) -> str:
    return str(error.__cause__ or error).strip() or type(error.__cause__).__name__

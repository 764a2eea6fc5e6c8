"""One JSON line for each request, under an id that the caller, this service and the model server share.

A line holds names and numbers, never text of a passage.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ape.errors import ApeError
from ape.passage.request_id import request_id
from ape.passage.result import PostEdit
from serve.middleware.http_exchange import HttpExchange, api_key_hash, client_address

REQUEST_ID_HEADER = "X-Request-Id"
# Polled by monitoring every few seconds; logged only for debugging.
PROBE_PATHS = frozenset({"/healthz", "/readyz", "/metrics", "/metrics/engine"})
MAX_VALUE_CHARACTERS = 200

LogValue = str | int | float | bool | None
_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_SLUG = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(slots=True)
class _Record:
    """What the handlers of one request add to its line."""

    fields: dict[str, LogValue] = field(default_factory=dict)
    decisions: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, object]:
        values: dict[str, object] = {name: _cut(value) for name, value in self.fields.items()}
        counts = {
            "decisions": self.decisions,
            "models": self.models,
            "findings": self.findings,
            "problems": self.problems,
        }
        return values | {name: count for name, count in counts.items() if count} | self.tokens


# A child task inherits the very same record.
_record: ContextVar[_Record | None] = ContextVar("record", default=None)


def log_fields(**fields: LogValue) -> None:
    """Add fields to the line of the current request, if there is one. Never text of a passage."""
    if record := _record.get():
        record.fields |= fields


def log_result(result: PostEdit) -> None:
    """Add the decision, model, tokens and findings of a passage."""
    if record := _record.get():
        record.decisions[result.decision.value] += 1
        record.models[result.model] += 1
        record.findings.update(finding.guard for finding in result.findings)
        record.tokens["prompt_tokens"] += result.usage.prompt_tokens
        record.tokens["completion_tokens"] += result.usage.completion_tokens


def log_problem(error: Exception) -> None:
    """Add the problem of the request or of one of its passages."""
    if record := _record.get():
        record.problems[problem_name(error)] += 1


def problem_name(error: Exception) -> str:
    """Return the last word of the problem type, made from the name of the error class."""
    if isinstance(error, ValidationError | RequestValidationError):
        return "input"
    if not isinstance(error, ApeError):
        return "unexpected"
    return _SLUG.sub("-", type(error).__name__).lower().removesuffix("-error")


class RequestLog:
    """Gives every request its id, and writes its line when the answer is complete or can't be completed.

    It belongs around the whole application (see `wrap_app`), so that unexpected errors are answered with the id too.
    """

    def __init__(self, app: ASGIApp, write: Callable[[str], None], *, debug: bool = False) -> None:
        self.app = app
        self.write = write
        self.debug = debug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, under its id."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name, record, path = _id_of(scope), _Record(), scope["path"]
        exchange = HttpExchange(scope, receive, send, headers=[(REQUEST_ID_HEADER.lower().encode(), name.encode())])
        id_before, record_before = request_id.set(name), _record.set(record)
        try:
            await exchange.run(self.app)
        except Exception:
            # Starlette raises again what it has answered as a 500 and we have logged. The server would then drop the
            # connection without a word, under the client's next request.
            if not exchange.is_complete:
                raise
        finally:
            request_id.reset(id_before)
            _record.reset(record_before)
            if self.debug or path not in PROBE_PATHS:
                line = _line(name, path, exchange, record)
                # A log that can't be written must not fail a request.
                with suppress(OSError, ValueError):
                    self.write(line)


def _id_of(scope: Scope) -> str:
    given = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    return given if _VALID_ID.fullmatch(given) else uuid.uuid4().hex


def _line(name: str, path: str, exchange: HttpExchange, record: _Record) -> str:
    key = api_key_hash(exchange.scope)
    values = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "id": name,
        "method": _cut(exchange.scope["method"]),
        "path": _cut(path),
        "status": exchange.status,
        "seconds": round(exchange.seconds, 4),
        "key": key[:8] if key else None,
        "client": client_address(exchange.scope),
    }
    return json.dumps(values | record.to_json())  # ASCII, so that no caller can inject a line


def _cut(value: LogValue) -> LogValue:
    return value[:MAX_VALUE_CHARACTERS] if isinstance(value, str) else value

"""Turn errors into RFC 9457 problem details."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ape.errors import ApeError, Busy, EngineError, EngineRefused, InputError, StoreError, TooLong
from ape.field_errors import choices_in, describe_field_error
from serve.middleware.request_log import log_problem, problem_name
from serve.schemas.problem import Problem

log = logging.getLogger("ape.serve")
MEDIA_TYPE = "application/problem+json"
ProblemPage = Callable[[Request, Problem], Response]

# How many errors are read; five are described.
MAX_ERRORS = 50


class NotAllowed(ApeError):
    """The caller sent no valid key, or used a host name of another machine."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status
        self.title = "Not allowed"


class Unreadable(ApeError):
    """The body can't be read."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
        self.title = "Unreadable request"


def problem_from_error(error: Exception, *, mt: str | None = None) -> Problem:
    """Return the problem details of an error; an unexpected error reveals nothing else."""
    if isinstance(error, ValidationError):
        return _invalid(error.errors())
    if not isinstance(error, ApeError):
        log.error("unexpected %s", type(error).__name__, exc_info=error)
        return Problem(
            type="urn:ape:problem:unexpected",
            title="Internal error",
            status=500,
            detail="An unexpected error occurred; see the service log. Nothing of the request was kept.",
            mt=mt,
        )
    return Problem(
        type=f"urn:ape:problem:{problem_name(error)}",
        title=error.title,
        status=error.status,
        detail=public_message(error),
        field=error.field if isinstance(error, InputError) else None,
        actual=error.actual if isinstance(error, TooLong) else None,
        limit=error.limit if isinstance(error, TooLong) else None,
        mt=mt if isinstance(error, EngineError) else None,
    )


def public_message(error: ApeError) -> str:
    """Return the error's message; messages about the job store, which name paths and addresses, go to the log."""
    if not isinstance(error, StoreError) and getattr(error, "field", None) != "store":
        return str(error)
    log.error("job store: %s", error)
    if isinstance(error.__cause__, OSError):
        return f"The service can't write its files: {error.__cause__.strerror}. Finished work is kept."
    return "The job store is not available; see the service log. Finished work is kept."


def _invalid(errors: Sequence[Any]) -> Problem:
    """Describe validation errors, without their `input`: it may hold a lone surrogate, which JSON can't."""
    choices: dict[str, list[str]] = {}
    messages: dict[str, str] = {}
    for error in errors[:MAX_ERRORS]:
        name = _field_name(error["loc"])
        if error["type"] in ("literal_error", "enum"):
            # A union of choices is one error for each member: together they are what the field takes.
            choices.setdefault(name, []).extend(choices_in(error))
        else:
            messages.setdefault(name, describe_field_error(error))
    texts = {name: f"one of {', '.join(dict.fromkeys(values))}" for name, values in choices.items()} | messages
    parts = [(name, f"{name}: {text}") for name, text in texts.items()][:5]
    return Problem(
        type="urn:ape:problem:input",
        title=InputError.title,
        status=422,
        detail=_printable("; ".join(text for _, text in parts)),
        field=_printable(parts[0][0]),
    )


def _field_name(location: Sequence[object]) -> str:
    """The field as a client writes it: without where it was sent, nor the type that pydantic tried."""
    parts = [str(part) for part in location]
    if len(parts) > 1 and parts[0] in ("query", "path", "header", "cookie"):
        parts = parts[1:]
    return ".".join(part for part in parts if not part.startswith("literal[")) or "body"


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()[:1000]


def problem_response(problem: Problem, error: Exception | None = None) -> JSONResponse:
    """Respond with a problem and its headers."""
    headers = {}
    wait = getattr(error, "retry_after", None)
    if isinstance(error, Busy | EngineError) and not isinstance(error, EngineRefused):
        headers["Retry-After"] = str(max(1, math.ceil(wait or 1)))
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(problem.to_json(), problem.status, headers, media_type=MEDIA_TYPE)


def _page(request: Request, problem: Problem) -> Response | None:
    """The problem as a page, for a person who followed a link; None for programs, and below /v1."""
    make_page: ProblemPage | None = getattr(request.app.state, "problem_page", None)
    if make_page is None or request.url.path.startswith("/v1/"):
        return None
    return make_page(request, problem) if "text/html" in request.headers.get("accept", "") else None


def _http_detail(request: Request, error: HTTPException) -> str:
    """The detail of an error, better than the framework's where that only repeats the title."""
    match error.status_code, error.detail:
        case 404, "Not Found":
            return f"There is nothing at {request.url.path}."
        case 405, "Method Not Allowed":
            return f"{request.method} is not possible at {request.url.path}; possible: {_allowed(error)}."
    return str(error.detail)


def _allowed(error: HTTPException) -> str:
    return (error.headers or {}).get("Allow") or "see the documentation of this address"


def respond_to_error(request: Request, error: Exception) -> Response:
    """Respond with the problem of an error: a page for a person who followed a link or sent a form, else JSON."""
    problem = problem_from_error(error)
    return _page(request, problem) or problem_response(problem, error)


def install_problem_handlers(app: FastAPI) -> None:
    """Install handlers that respond to every error with problem details, or with `app.state.problem_page`."""

    async def ours(request: Request, error: Exception) -> Response:
        log_problem(error)
        return respond_to_error(request, error)

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        title = {404: "Not found", 405: "Method not allowed"}.get(error.status_code, "Refused")
        problem = Problem(
            type="about:blank", title=title, status=error.status_code, detail=_printable(_http_detail(request, error))
        )
        answer = _page(request, problem) or problem_response(problem)
        answer.headers.update(error.headers or {})
        return answer

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        log_problem(error)
        problem = _invalid(error.errors())
        return _page(request, problem) or problem_response(problem)

    app.add_exception_handler(ApeError, ours)
    app.add_exception_handler(ValidationError, ours)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, ours)

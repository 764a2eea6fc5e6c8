"""The route POST /v1/post-edit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from ape.errors import EngineUnavailable
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate
from serve.middleware.disconnect import cancel_on_disconnect
from serve.middleware.problems import problem_from_error, problem_response
from serve.middleware.rate_limit import caller_identity
from serve.middleware.request_log import log_fields
from serve.middleware.server_sent_events import MEDIA_TYPE as EVENT_STREAM
from serve.middleware.server_sent_events import EventStreamResponse
from serve.routes.openapi import problem_responses
from serve.routes.passage_stream import passage_events
from serve.routes.passages import PassageQuestions, read_questions
from serve.scheduler.passage_handler import PassageHandler, PassageOutcome, PassageQuestion
from serve.schemas.passages import PostEditResponse


def add_post_edit_route(app: FastAPI, settings: Settings) -> None:
    """Add POST /v1/post-edit."""

    @app.post(
        "/v1/post-edit",
        tags=["post-edit"],
        summary="Post-edit a passage or a list of passages",
        description=(
            "Send one passage or a list. A list returns a list in the same order; a passage that failed has problem "
            "details in its place. With `Accept: text/event-stream` the response is a stream of events: `attempt`, "
            "`token`, `retry`, `finding`, then `result` or `error` for each passage (with its `index` in a list), and "
            "`end`. Disconnecting cancels the work."
        ),
        response_model=None,
        responses=problem_responses(400, 401, 403, 404, 413, 415, 422, 429, 502, 503, 504),
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def post_edit(request: Request) -> Response:
        passages = await read_questions(request, settings)
        log_fields(passages=len(passages.questions))
        handler: PassageHandler = request.app.state.handler
        admission = _admit(request, settings, len(passages.questions))
        if _accepts_events(request) and not _is_invalid_request(passages):
            return EventStreamResponse(passage_events(passages, handler), admission=admission)
        outcomes = await _post_edit_all(passages, request, handler, admission)
        if passages.is_list:
            return JSONResponse([_outcome_json(*pair) for pair in zip(passages.questions, outcomes, strict=True)])
        return _single_response(passages.questions[0], outcomes[0])


@contextmanager
def _admit(request: Request, settings: Settings, count: int) -> Iterator[None]:
    """Admit the passages to the queue and then to the caller's rate limit: a full queue uses up no rate."""
    with request.app.state.queue.admit(count):
        request.app.state.rate_limit.take(caller_identity(request, settings), count)
        yield


async def _post_edit_all(
    passages: PassageQuestions, request: Request, handler: PassageHandler, admission: AbstractContextManager[None]
) -> list[PassageOutcome]:
    with admission:
        work = asyncio.gather(*(handler.handle(question) for question in passages.questions))
        try:
            return await cancel_on_disconnect(request, work)
        except asyncio.CancelledError:
            # uvicorn's graceful shutdown has timed out. Uncaught, this would be a 500.
            return [EngineUnavailable("The service is stopping. Try again later.")] * len(passages.questions)


def _single_response(question: PassageQuestion, outcome: PassageOutcome) -> Response:
    if isinstance(outcome, Exception):
        problem = problem_from_error(outcome, mt=getattr(question, "mt", None))
        return problem_response(problem, outcome)
    return JSONResponse(_outcome_json(question, outcome))


def _outcome_json(question: PassageQuestion, outcome: PassageOutcome) -> dict[str, Any]:
    if isinstance(outcome, Exception):
        return problem_from_error(outcome, mt=getattr(question, "mt", None)).to_json()
    return PostEditResponse.of(outcome).model_dump(mode="json")


def _accepts_events(request: Request) -> bool:
    accepted = (part.replace(" ", "").lower() for part in request.headers.get("accept", "").split(","))
    return any(part.startswith(EVENT_STREAM) and not part.endswith((";q=0", ";q=0.0")) for part in accepted)


def _is_invalid_request(passages: PassageQuestions) -> bool:
    """Whether the only passage is invalid: a status then says more than a stream."""
    return not passages.is_list and isinstance(passages.questions[0], ValidationError)

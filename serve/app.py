"""The HTTP service: its routes, and how an outcome becomes an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from importlib import metadata

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from ape.engines import Engine
from ape.engines.registry import ModelRegistry
from ape.errors import EngineUnavailable
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.middleware.admission import AdmissionLimit
from serve.middleware.auth import auth_dependency, authenticate
from serve.middleware.http_exchange import CLIENT_CLOSED_REQUEST, wrap_app
from serve.middleware.metrics import ServiceMetrics
from serve.middleware.problems import install_problem_handlers, problem_from_error, problem_response
from serve.middleware.rate_limit import RateLimit, caller_identity
from serve.middleware.request_log import RequestLog, log_fields
from serve.pages import add_pages
from serve.routes.books import add_book_routes
from serve.routes.jobs import add_job_routes
from serve.routes.models import add_model_routes
from serve.routes.monitoring import add_monitoring_routes
from serve.routes.openapi import complete_openapi, problem_responses
from serve.routes.passage_stream import MEDIA_TYPE as EVENTS
from serve.routes.passage_stream import PassageEventStream
from serve.routes.passages import (
    ClientGone,
    PassageHandler,
    PassageOutcome,
    PassageQuestions,
    cancel_on_disconnect,
    read_request,
)
from serve.scheduler.scheduler import JobScheduler
from serve.schemas.passages import PostEditResponse


def create_app(
    settings: Settings,
    engine: AbstractAsyncContextManager[Engine],
    *,
    store: JobStore | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> FastAPI:
    """The application on an engine, which is opened when the service starts and closed when it stops.

    So is the store of the jobs, unless one is given. `log` gets a JSON line for each request.
    """
    queue = AdmissionLimit(settings.max_queue)
    metrics = ServiceMetrics(
        queue=queue,
        engine=lambda: app.state.roster.health(),
        adapters=lambda: app.state.roster.in_service,
        jobs=lambda: app.state.foreman.states,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with engine as opened:
            roster = (
                opened
                if isinstance(opened, ModelRegistry)
                else ModelRegistry(opened, aliases=settings.aliases)
            )
            for _ in roster.entries:
                metrics.adapter("loaded")  # before anybody counted
            roster.on_change = metrics.adapter
            app.state.roster, app.state.desk = roster, PassageHandler(roster, settings, metrics)
            async with _open_store(store, settings) as jobs:
                app.state.foreman = foreman = JobScheduler(jobs, roster, settings, metrics)
                async with foreman.at_work():
                    try:
                        yield
                    finally:
                        shelf.close()

    app = FastAPI(
        title="ape",
        summary="Repairs machine-translated literature, or gives it back with the reason why.",
        version=metadata.version("ape-books"),
        lifespan=lifespan,
        docs_url=None,  # these pages load their scripts from other people's servers
        redoc_url=None,
    )
    app.state.queue, app.state.metrics = queue, metrics
    app.state.limit = RateLimit(settings.rate_limit)
    install_problem_handlers(app)
    app.add_exception_handler(ClientGone, _client_gone)
    wrap_app(app, lambda inner: RequestLog(inner, log), metrics.counted)
    add_monitoring_routes(app, settings)
    add_model_routes(app, settings)
    _add_post_edit_route(app, settings)
    add_book_routes(app, settings)
    add_job_routes(app, settings)
    shelf = add_pages(app, settings)
    app.openapi = lambda: complete_openapi(FastAPI.openapi(app), settings)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _open_store(store: JobStore | None, settings: Settings) -> AsyncIterator[JobStore]:
    if store is not None:
        yield store
        return
    ours = await asyncio.to_thread(JobStore, settings.jobs_url)
    try:
        yield ours
    finally:
        ours.close()


async def _client_gone(_: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


def _add_post_edit_route(app: FastAPI, settings: Settings) -> None:
    @app.post(
        "/v1/post-edit",
        tags=["post-edit"],
        summary="Repair a passage, or a list of them",
        description=(
            "Send one passage or a list. A list is answered by a list in the same order, in which a passage that "
            "failed has problem details in its place. With `Accept: text/event-stream` the answer is a stream of "
            "events: `attempt`, `token`, `retry`, `finding`, then `result` or `error` for each passage (with its "
            "`index` in a list), and `end`. Hanging up cancels the work."
        ),
        response_model=None,
        responses=problem_responses(400, 401, 403, 404, 413, 415, 422, 429, 502, 503, 504),
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def post_edit(request: Request) -> Response:
        asked = await read_request(request, settings)
        log_fields(passages=len(asked.questions))
        admitted = _admit(request, settings, len(asked.questions))
        if _wants_events(request) and not _is_invalid_request(asked):
            return PassageEventStream(asked, admitted, _handler(request))
        outcomes = await _work_on(asked, request, admitted)
        return _answer_list(asked, outcomes) if asked.is_list else _answer_one(asked, outcomes[0])


@contextmanager
def _admit(request: Request, settings: Settings, count: int) -> Iterator[None]:
    """A place for so many passages, within the rate of the caller: a full queue takes nothing of that."""
    with request.app.state.queue.admit(count):
        request.app.state.limit.take(caller_identity(request, settings), count)
        yield


async def _work_on(
    asked: PassageQuestions, request: Request, admitted: AbstractContextManager[None]
) -> list[PassageOutcome]:
    with admitted:
        work = asyncio.gather(*(_handler(request).answer(one) for one in asked.questions))
        try:
            return await cancel_on_disconnect(request, work)
        except asyncio.CancelledError:
            # uvicorn has drained for long enough. Uncaught, this would be a 500.
            return [EngineUnavailable("The service is stopping. Ask again later.")] * len(asked.questions)


def _answer_one(asked: PassageQuestions, outcome: PassageOutcome) -> Response:
    if isinstance(outcome, Exception):
        return problem_response(
            problem_from_error(outcome, mt=getattr(asked.questions[0], "mt", None)), outcome
        )
    return JSONResponse(PostEditResponse.of(outcome).model_dump(mode="json"))


def _answer_list(asked: PassageQuestions, outcomes: list[PassageOutcome]) -> Response:
    return JSONResponse(
        [
            problem_from_error(outcome, mt=getattr(question, "mt", None)).to_json()
            if isinstance(outcome, Exception)
            else PostEditResponse.of(outcome).model_dump(mode="json")
            for question, outcome in zip(asked.questions, outcomes, strict=True)
        ]
    )


def _wants_events(request: Request) -> bool:
    accepted = (part.replace(" ", "").lower() for part in request.headers.get("accept", "").split(","))
    return any(part.startswith(EVENTS) and not part.endswith((";q=0", ";q=0.0")) for part in accepted)


def _is_invalid_request(asked: PassageQuestions) -> bool:
    """Whether the one question is no question, for which a status says more than a stream."""
    return not asked.is_list and isinstance(asked.questions[0], ValidationError)


def _handler(request: Request) -> PassageHandler:
    desk: PassageHandler = request.app.state.desk
    return desk

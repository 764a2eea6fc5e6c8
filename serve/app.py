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
from ape.errors import EngineUnavailable
from ape.jobs.store import Store
from ape.settings import Settings
from serve.ab import add_pages
from serve.books import add_book_routes
from serve.door import door, let_in
from serve.exchange import CLIENT_CLOSED_REQUEST, surround
from serve.foreman import Foreman
from serve.jobs import add_job_routes
from serve.limits import RateLimit, identity
from serve.log import RequestLog, note
from serve.metrics import Metrics
from serve.models import add_model_routes
from serve.openapi import complete, problems
from serve.operation import add_operation_routes
from serve.problems import install, problem_of, response_of
from serve.queue import Queue
from serve.roster import Roster
from serve.schema import PostEditResponse
from serve.stream import MEDIA_TYPE as EVENTS
from serve.stream import EventStream
from serve.work import Asked, ClientGone, Desk, Outcome, read_request, while_somebody_waits


def create_app(
    settings: Settings,
    engine: AbstractAsyncContextManager[Engine],
    *,
    store: Store | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> FastAPI:
    """The application on an engine, which is opened when the service starts and closed when it stops.

    So is the store of the jobs, unless one is given. `log` gets a JSON line for each request.
    """
    queue = Queue(settings.max_queue)
    metrics = Metrics(
        queue=queue,
        engine=lambda: app.state.roster.health(),
        adapters=lambda: app.state.roster.in_service,
        jobs=lambda: app.state.foreman.states,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with engine as opened:
            roster = opened if isinstance(opened, Roster) else Roster(opened, aliases=settings.aliases)
            for _ in roster.entries:
                metrics.adapter("loaded")  # before anybody counted
            roster.on_change = metrics.adapter
            app.state.roster, app.state.desk = roster, Desk(roster, settings, metrics)
            async with _opened(store, settings) as jobs:
                app.state.foreman = foreman = Foreman(jobs, roster, settings, metrics)
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
    install(app)
    app.add_exception_handler(ClientGone, _nobody_there)
    surround(app, lambda inner: RequestLog(inner, log), metrics.counted)
    add_operation_routes(app, settings)
    add_model_routes(app, settings)
    _add_post_edit_route(app, settings)
    add_book_routes(app, settings)
    add_job_routes(app, settings)
    shelf = add_pages(app, settings)
    app.openapi = lambda: complete(FastAPI.openapi(app), settings)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _opened(store: Store | None, settings: Settings) -> AsyncIterator[Store]:
    if store is not None:
        yield store
        return
    ours = await asyncio.to_thread(Store, settings.jobs_url)
    try:
        yield ours
    finally:
        ours.close()


async def _nobody_there(_: Request, error: Exception) -> Response:
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
        responses=problems(400, 401, 403, 404, 413, 415, 422, 429, 502, 503, 504),
        dependencies=[door(settings, let_in)],
    )
    async def post_edit(request: Request) -> Response:
        asked = await read_request(request, settings)
        note(passages=len(asked.questions))
        admitted = _admit(request, settings, len(asked.questions))
        if _wants_events(request) and not _is_plainly_wrong(asked):
            return EventStream(asked, admitted, _desk(request))
        outcomes = await _work_on(asked, request, admitted)
        return _answer_list(asked, outcomes) if asked.is_list else _answer_one(asked, outcomes[0])


@contextmanager
def _admit(request: Request, settings: Settings, count: int) -> Iterator[None]:
    """A place for so many passages, within the rate of the caller: a full queue takes nothing of that."""
    with request.app.state.queue.admit(count):
        request.app.state.limit.take(identity(request, settings), count)
        yield


async def _work_on(asked: Asked, request: Request, admitted: AbstractContextManager[None]) -> list[Outcome]:
    with admitted:
        work = asyncio.gather(*(_desk(request).answer(one) for one in asked.questions))
        try:
            return await while_somebody_waits(request, work)
        except asyncio.CancelledError:
            # uvicorn has drained for long enough. Uncaught, this would be a 500.
            return [EngineUnavailable("The service is stopping. Ask again later.")] * len(asked.questions)


def _answer_one(asked: Asked, outcome: Outcome) -> Response:
    if isinstance(outcome, Exception):
        return response_of(problem_of(outcome, mt=getattr(asked.questions[0], "mt", None)), outcome)
    return JSONResponse(PostEditResponse.of(outcome).model_dump(mode="json"))


def _answer_list(asked: Asked, outcomes: list[Outcome]) -> Response:
    return JSONResponse(
        [
            problem_of(outcome, mt=getattr(question, "mt", None)).to_json()
            if isinstance(outcome, Exception)
            else PostEditResponse.of(outcome).model_dump(mode="json")
            for question, outcome in zip(asked.questions, outcomes, strict=True)
        ]
    )


def _wants_events(request: Request) -> bool:
    accepted = (part.replace(" ", "").lower() for part in request.headers.get("accept", "").split(","))
    return any(part.startswith(EVENTS) and not part.endswith((";q=0", ";q=0.0")) for part in accepted)


def _is_plainly_wrong(asked: Asked) -> bool:
    """Whether the one question is no question, for which a status says more than a stream."""
    return not asked.is_list and isinstance(asked.questions[0], ValidationError)


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk

"""The HTTP service: its routes, and how an outcome becomes an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import metadata

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from ape.engines import Engine
from ape.errors import EngineTimeout, EngineUnavailable
from ape.settings import Settings
from serve.door import let_in
from serve.openapi import complete, problems
from serve.problems import install, problem_of, response_of
from serve.queue import Queue
from serve.schema import Health, ModelOut, ModelsResponse, PostEditResponse, Readiness
from serve.stream import MEDIA_TYPE as EVENTS
from serve.stream import EventStream
from serve.work import Asked, ClientGone, Outcome, answer, read_request, while_somebody_waits

READY_SECONDS = 5.0
CLIENT_CLOSED_REQUEST = 499  # never seen by anyone; for the log


def create_app(settings: Settings, engine: AbstractAsyncContextManager[Engine]) -> FastAPI:
    """The application on an engine, which is opened when the service starts and closed when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with engine as opened:
            app.state.engine = opened
            yield

    app = FastAPI(
        title="ape",
        summary="Repairs machine-translated literature, or gives it back with the reason why.",
        version=metadata.version("ape-books"),
        lifespan=lifespan,
        docs_url=None,  # these pages load their scripts from other people's servers
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.queue = Queue(settings.max_queue)
    install(app)
    _add_operation_routes(app)
    _add_model_routes(app, settings)
    _add_post_edit_route(app, settings)
    app.openapi = lambda: complete(FastAPI.openapi(app), settings)  # type: ignore[method-assign]
    return app


def _add_operation_routes(app: FastAPI) -> None:
    @app.get("/healthz", tags=["operation"], summary="Is the service alive?")
    async def healthz() -> Health:
        return Health()

    @app.get(
        "/readyz", tags=["operation"], summary="Does the engine answer?", responses=problems(502, 503, 504)
    )
    async def readyz(request: Request) -> Readiness:
        try:
            models = await asyncio.wait_for(_engine(request).models(), READY_SECONDS)
        except TimeoutError as error:
            raise EngineTimeout(
                f"The model server did not answer within {READY_SECONDS:g} seconds."
            ) from error
        if not models:
            raise EngineUnavailable("The model server serves no model.")
        return Readiness(models=[model.name for model in models])


def _add_model_routes(app: FastAPI, settings: Settings) -> None:
    @app.get(
        "/v1/models",
        tags=["models"],
        summary="The models that can be asked for",
        responses=problems(401, 403, 502, 503, 504),
        dependencies=[Depends(_door(settings))],
    )
    async def models(request: Request) -> ModelsResponse:
        served = await _engine(request).models()
        return ModelsResponse(
            models=[
                ModelOut(name=model.name, default=place == 0, window=model.window)
                for place, model in enumerate(served)
            ]
        )


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
        dependencies=[Depends(_door(settings))],
    )
    async def post_edit(request: Request) -> Response:
        try:
            asked = await read_request(request, settings)
            if _wants_events(request) and not _is_plainly_wrong(asked):
                return EventStream(asked, _queue(request), _engine(request), settings)
            outcomes = await _work_on(asked, request, settings)
        except ClientGone:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        return _answer_list(asked, outcomes) if asked.is_list else _answer_one(asked, outcomes[0])


async def _work_on(asked: Asked, request: Request, settings: Settings) -> list[Outcome]:
    with _queue(request).admit(len(asked.questions)):
        work = asyncio.gather(*(answer(one, _engine(request), settings) for one in asked.questions))
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


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _queue(request: Request) -> Queue:
    queue: Queue = request.app.state.queue
    return queue


def _door(settings: Settings) -> Callable[[Request], Awaitable[None]]:
    async def door(request: Request) -> None:  # async, or FastAPI would look for a thread to run it in
        let_in(request, settings)

    return door

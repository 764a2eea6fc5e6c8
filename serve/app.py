"""The HTTP service: routes, and what they promise in OpenAPI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import metadata
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic.json_schema import models_json_schema

from ape.engines import Engine
from ape.errors import EngineTimeout
from ape.settings import Settings
from serve.door import let_in
from serve.problems import MEDIA_TYPE, install, problem_of, response_of
from serve.queue import Queue
from serve.schema import (
    Health,
    ModelOut,
    ModelsResponse,
    PostEditRequest,
    PostEditResponse,
    Problem,
    Readiness,
)
from serve.stream import events
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
    app.openapi = lambda: _complete(app, FastAPI.openapi(app), settings)  # type: ignore[method-assign]
    return app


def _add_operation_routes(app: FastAPI) -> None:
    @app.get("/healthz", tags=["operation"], summary="Is the service alive?")
    async def healthz() -> Health:
        return Health()

    @app.get(
        "/readyz", tags=["operation"], summary="Does the engine answer?", responses=_problems(502, 503, 504)
    )
    async def readyz(request: Request) -> Readiness:
        try:
            models = await asyncio.wait_for(_engine(request).models(), READY_SECONDS)
        except TimeoutError as error:
            raise EngineTimeout(
                f"The model server did not answer within {READY_SECONDS:g} seconds."
            ) from error
        return Readiness(models=[model.name for model in models])


def _add_model_routes(app: FastAPI, settings: Settings) -> None:
    @app.get(
        "/v1/models",
        tags=["models"],
        summary="The models that can be asked for",
        responses=_problems(401, 403, 502, 503, 504),
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
        responses=_problems(400, 401, 403, 404, 413, 415, 422, 429, 502, 503, 504),
        dependencies=[Depends(_door(settings))],
    )
    async def post_edit(request: Request) -> Response:
        asked = await read_request(request, settings)
        queue: Queue = request.app.state.queue
        if _wants_events(request):
            return _stream(asked, queue, _engine(request), settings)
        with queue.admit(len(asked.questions)):
            work = asyncio.gather(*(answer(one, _engine(request), settings) for one in asked.questions))
            try:
                outcomes = await while_somebody_waits(request, work)
            except ClientGone:
                return Response(status_code=CLIENT_CLOSED_REQUEST)
        return _answer_list(asked, outcomes) if asked.is_list else _answer_one(asked, outcomes[0])


def _stream(asked: Asked, queue: Queue, engine: Engine, settings: Settings) -> StreamingResponse:
    admission = queue.admit(len(asked.questions))
    admission.__enter__()  # here, so that a full queue is still a 429 and not a broken stream

    async def told() -> AsyncIterator[str]:
        try:
            async for line in events(asked, engine, settings):
                yield line
        finally:
            admission.__exit__(None, None, None)

    return StreamingResponse(told(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


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
    return "text/event-stream" in request.headers.get("accept", "")


def _engine(request: Request) -> Engine:
    engine: Engine = request.app.state.engine
    return engine


def _door(settings: Settings) -> Any:
    def door(request: Request) -> None:
        let_in(request, settings)

    return door


_TELLS = {
    400: "The body is not JSON.",
    401: "No key, or a wrong one.",
    403: "Asked for by a host name that is not this machine's.",
    404: "No model of that name.",
    413: "More than a limit or the model's window allows; `actual` and `limit` say how much.",
    415: "The body is not application/json.",
    422: "Something in the request can't be worked on; `field` says what.",
    429: "The queue is full; Retry-After says when to come again.",
    502: "The model server failed.",
    503: "The model server can't be reached or is overloaded.",
    504: "The model server did not answer in time.",
}


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    reference = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": _TELLS[status], "content": {MEDIA_TYPE: {"schema": reference}}}
        for status in statuses
    }


def _complete(app: FastAPI, document: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Add what FastAPI can't see: bodies that are read by hand, their schemas, and the key."""
    _, definitions = models_json_schema(
        [(PostEditRequest, "validation"), (PostEditResponse, "serialization"), (Problem, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    components = document.setdefault("components", {})
    components.setdefault("schemas", {}).update(definitions["$defs"])
    question = {"$ref": "#/components/schemas/PostEditRequest"}
    result = {"$ref": "#/components/schemas/PostEditResponse"}
    problem = {"$ref": "#/components/schemas/Problem"}
    operation = document["paths"]["/v1/post-edit"]["post"]
    many = {"type": "array", "items": question, "minItems": 1, "maxItems": settings.max_passages}
    operation["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": [question, many]}}},
    }
    operation["responses"]["200"] = {
        "description": "The post-edit, or a list of post-edits and problems.",
        "content": {
            "application/json": {
                "schema": {"anyOf": [result, {"type": "array", "items": {"anyOf": [result, problem]}}]}
            },
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }
    if settings.api_keys:
        components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path, method in (("/v1/post-edit", "post"), ("/v1/models", "get")):
            document["paths"][path][method]["security"] = [{"key": []}]
    return document

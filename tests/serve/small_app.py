"""A minimal application with the service's kinds of responses: problems, lists, streams and cancellable work."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx2
from fastapi import FastAPI, Request, Response
from starlette.types import Receive, Scope, Send

from ape.engines import EngineHealth
from ape.errors import Busy, EngineTimeout
from ape.passage.request_id import request_id
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from serve.middleware.admission import AdmissionLimit
from serve.middleware.disconnect import ClientGone, cancel_on_disconnect
from serve.middleware.http_exchange import wrap_app
from serve.middleware.metrics import ServiceMetrics
from serve.middleware.problems import install_problem_handlers
from serve.middleware.request_log import RequestLog, log_fields, log_problem, log_result
from tests.scripted import running

KEY = "a-key-of-ours"
TEXT = "Anna put down her bag."
MESSAGE = "The name Wronskij was lost."

WARNED = Finding("names", Severity.WARN, MESSAGE, attempt=2)
REFUSED = Finding("length", Severity.REJECT, MESSAGE, attempt=1)
EDITED = PostEdit(
    id="1",
    post_edit=TEXT,
    decision=Decision.EDITED,
    findings=(REFUSED, WARNED),
    edits=(),
    edit_rate=0.12,
    model="par3",
    prompt="sep@1",
    usage=Usage(100, 20),
    attempt=2,
)
UNCHANGED = PostEdit(
    id="2",
    post_edit=TEXT,
    decision=Decision.UNCHANGED,
    findings=(),
    edits=(),
    edit_rate=0.0,
    model="base",
    prompt="chat@1",
    usage=Usage(50, 10),
    attempt=1,
)


@dataclass
class SmallApp:
    """The running application with its log lines, metrics, and the request ids seen by its handlers."""

    client: httpx2.Client
    metrics: ServiceMetrics
    queue: AdmissionLimit
    engine: list[EngineHealth]
    lines: list[str]
    ids: list[str]

    @contextmanager
    def connect(self, path: str, *, method: str = "GET", header: str = "X: y") -> Iterator[socket.socket]:
        """Send a request, and disconnect at the end of the block."""
        address = urlsplit(str(self.client.base_url))
        with closing(socket.create_connection((str(address.hostname), address.port or 0), timeout=300)) as connection:
            connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n".encode())
            yield connection


@contextmanager
def run_small_app(*, debug: bool = False) -> Iterator[SmallApp]:
    """Run the application on a socket, with request log and metrics."""
    lines: list[str] = []
    ids: list[str] = []
    engine = [EngineHealth("starting")]
    queue = AdmissionLimit(8)
    metrics = ServiceMetrics(queue=queue, engine=lambda: engine[-1], adapters=lambda: 3)
    app = FastAPI()
    install_problem_handlers(app)
    _add_plain_routes(app, metrics)
    _add_failing_routes(app)
    _add_work_routes(app, metrics, queue, ids)
    wrap_app(app, lambda inner: RequestLog(inner, lines.append, debug=debug), metrics.middleware)
    with running(app) as address, httpx2.Client(base_url=address, timeout=300) as client:
        yield SmallApp(client, metrics, queue, engine, lines, ids)


def _add_plain_routes(app: FastAPI, metrics: ServiceMetrics) -> None:
    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/metrics")
    async def scrape(request: Request) -> Response:
        body, kind = metrics.exposition(request.headers.get("accept", ""))
        return Response(body, media_type=kind)

    @app.get("/v1/jobs/{name}")
    async def job(name: str) -> Response:
        return Response(request_id.get(), headers={"X-Request-Id": "the handler's own"})


def _add_failing_routes(app: FastAPI) -> None:
    @app.get("/busy")
    async def busy() -> None:
        raise Busy("Full.", retry_after=7)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError(TEXT)

    @app.get("/half")
    async def half() -> Response:
        async def fail() -> None:
            raise RuntimeError(TEXT)

        return ChunkedResponse(AdmissionLimit(1), then=fail)


def _add_work_routes(app: FastAPI, metrics: ServiceMetrics, queue: AdmissionLimit, ids: list[str]) -> None:
    async def work(outcome: PostEdit | Exception) -> None:
        await asyncio.sleep(0)
        ids.append(request_id.get())
        if isinstance(outcome, Exception):
            log_problem(outcome)
            metrics.record_failure(outcome)
        else:
            log_result(outcome)
            metrics.record_passage(outcome, 0.3, drafts=outcome.attempt)

    @app.post("/v1/post-edit")
    async def post_edit(request: Request) -> list[str]:
        await request.json()
        outcomes: list[PostEdit | Exception] = [EDITED, UNCHANGED, EDITED, EngineTimeout(TEXT), ValueError(TEXT)]
        log_fields(passages=len(outcomes))
        with queue.admit(len(outcomes)):
            await cancel_on_disconnect(request, asyncio.gather(*(work(outcome) for outcome in outcomes)))
        return [TEXT]

    @app.get("/forever")
    async def forever(request: Request) -> Response:
        try:
            with queue.admit(1):
                await cancel_on_disconnect(request, asyncio.Event().wait())
        except ClientGone:
            return Response(status_code=499)
        raise AssertionError("unreachable")

    @app.get("/stream")
    async def stream() -> Response:
        return ChunkedResponse(queue)

    @app.get("/stream/forever")
    async def endless() -> Response:
        return ChunkedResponse(queue, then=asyncio.Event().wait)

    @app.get("/stream/full")
    async def full() -> Response:
        return ChunkedResponse(queue, passages=queue.capacity + 1)


async def _nothing() -> None:
    pass


@dataclass
class ChunkedResponse(Response):
    """A chunked response that is admitted while it lasts and cancelled when the client disconnects."""

    queue: AdmissionLimit
    passages: int = 1
    then: Callable[[], Awaitable[Any]] = _nothing
    status_code: int = 200
    background: None = field(default=None, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.queue.admit(self.passages), suppress(ClientGone):
            await cancel_on_disconnect(Request(scope, receive), self._send(send))

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": []})
        await send({"type": "http.response.body", "body": b"a piece;", "more_body": True})
        await self.then()
        await send({"type": "http.response.body", "body": b"the end"})

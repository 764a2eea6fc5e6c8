"""A scripted model server: the OpenAI API over real HTTP, with scripted answers and failures."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Send

from prompts.sep import SEPARATOR


@dataclass(frozen=True, slots=True)
class Say:
    """Stream this text in pieces and finish for this reason."""

    text: str
    finish_reason: str = "stop"
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with this status."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: str = '{"error": {"message": "scripted failure"}}'


@dataclass(frozen=True, slots=True)
class Cut:
    """Start to answer, then drop the connection."""

    text: str


@dataclass(frozen=True, slots=True)
class Raw:
    """Answer 200 with exactly this body."""

    body: str
    content_type: str = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Hang:
    """Send nothing until the client disconnects."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Start to answer, then send nothing until the client disconnects."""

    text: str


Move = Say | Fail | Cut | Raw | Hang | Stall
Script = Callable[[dict[str, Any], int], Move]


def translation_in(request: dict[str, Any]) -> str:
    """The MT in the prompt, of either format."""
    if "prompt" in request:
        return str(request["prompt"]).split(SEPARATOR)[1]
    found = re.search(r"<translation>\n(.*)\n</translation>", request["messages"][-1]["content"], re.DOTALL)
    assert found, "the prompt has no translation"
    return found.group(1)


def echo(request: dict[str, Any], turn: int) -> Move:
    """Answer with the MT."""
    return Say(translation_in(request))


@dataclass
class ScriptedServer:
    """The requests received, the disconnections counted, and the next answer: `script(request, turn)`.

    It lists one model with this window, or answers a request for its models with `listing`.
    """

    script: Script = echo
    window: int | None = 32768
    listing: Fail | Raw | Hang | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hung_up: int = 0
    active: int = 0
    most_active: int = 0
    url: str = ""

    def play(self, *moves: Move) -> None:
        """Answer with these in turn, then repeat the last."""
        self.requests.clear()
        self.script = lambda request, turn: moves[min(turn, len(moves) - 1)]

    async def complete(self, request: Request) -> Response:
        content = await request.json()
        self.requests.append(content)
        self.headers.append(dict(request.headers))
        move = self.script(content, len(self.requests) - 1)
        match move:
            case Fail() | Raw() | Hang():
                return await self._plain(move, request)
            case Say() | Cut() | Stall():
                return _Stream(self._chunks(move, text="prompt" in content), media_type="text/event-stream")

    async def _plain(self, move: Fail | Raw | Hang, request: Request) -> Response:
        match move:
            case Fail(status, headers, body):
                return Response(body, status, dict(headers), media_type="application/json")
            case Raw(body, content_type):
                return Response(body, 200, media_type=content_type)
            case Hang():
                await self._wait_for_disconnect(request)
                return Response(status_code=499)

    async def _wait_for_disconnect(self, request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.hung_up += 1

    async def _chunks(self, move: Say | Cut | Stall, *, text: bool) -> AsyncGenerator[str]:
        self.active += 1
        self.most_active = max(self.most_active, self.active)
        disconnected = True
        try:
            for piece in re.findall(r".{1,12}", move.text, re.DOTALL):
                delta = {"text": piece} if text else {"delta": {"content": piece}}
                yield _event({"choices": [{"index": 0, **delta, "finish_reason": None}]})
                await asyncio.sleep(move.pause if isinstance(move, Say) else 0)
            if isinstance(move, Stall):
                await asyncio.Event().wait()
            disconnected = False
            if not isinstance(move, Say):
                raise ConnectionAbortedError
            delta = {"text": ""} if text else {"delta": {}}
            yield _event({"choices": [{"index": 0, **delta, "finish_reason": move.finish_reason}]})
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            yield _event({"choices": [], "usage": usage})
            yield "data: [DONE]\n\n"
        finally:
            self.hung_up += disconnected
            self.active -= 1

    async def models(self, request: Request) -> Response:
        if self.listing:
            return await self._plain(self.listing, request)
        entry = {"id": "scripted", "object": "model", "created": 0, "owned_by": "tests", "max_model_len": self.window}
        return JSONResponse({"object": "list", "data": [entry]})


class _Stream(StreamingResponse):
    """A stream whose generator is closed when the client disconnects, not at garbage collection."""

    def __init__(self, chunks: AsyncGenerator[str], *, media_type: str) -> None:
        super().__init__(chunks, media_type=media_type)
        self.chunks = chunks

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self.chunks):
            await super().stream_response(send)


def _event(content: dict[str, Any]) -> str:
    whole = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "scripted"} | content
    return f"data: {json.dumps(whole)}\n\n"


class _Server(uvicorn.Server):
    """A uvicorn server with an event that is set when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@contextmanager
def running(app: Any, **options: Any) -> Iterator[str]:
    """Serve an application on a loopback socket within the block; yield its address. `options` are those of uvicorn."""
    config = uvicorn.Config(app, port=0, log_level="critical", ws="none", timeout_graceful_shutdown=2, **options)
    server = _Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert server.listening.wait(60), "the server did not start"
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not stop"


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A scripted model server on loopback."""
    server = ScriptedServer()
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", server.complete, methods=["POST"]),
            Route("/v1/completions", server.complete, methods=["POST"]),
            Route("/v1/models", server.models),
        ]
    )
    with running(app) as address:
        server.url = f"{address}/v1"
        yield server

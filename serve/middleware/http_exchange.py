"""A request and its answer, watched from outside the application: who asks, and what it comes to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ape.files.hashing import hash_text

CLIENT_CLOSED_REQUEST = 499


class HttpExchange:
    """One request on its way through an application, and `headers` added to the answer, whatever that is.

    Not Starlette's BaseHTTPMiddleware: that one stands between a stream and the news that nobody listens any more.
    """

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, *, headers: Iterable[tuple[bytes, bytes]] = ()
    ) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self._headers = tuple(headers)
        self._began = time.monotonic()
        self._answered: int | None = None
        self._failed: int | None = None
        self.is_complete = self._is_deserted = False

    async def run(self, app: ASGIApp) -> None:
        """Let the application answer; what it raises goes on upwards."""
        try:
            await app(self.scope, self._listen, self._tell)
        except ClientDisconnect:
            self._is_deserted = self._is_deserted or not self.is_complete
            raise
        except asyncio.CancelledError:
            self._failed = 503  # the service stops and has waited for long enough
            raise
        except BaseException:
            self._failed = 500
            raise

    @property
    def status(self) -> int:
        """What became of it, which for an answer that broke off is not what its first line said.

        499 where the client hung up before the end, 500 where the application failed before it.
        """
        if self._is_deserted:
            return CLIENT_CLOSED_REQUEST
        if self.is_complete and self._answered is not None:
            return self._answered
        return self._failed or 500

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._began

    async def _listen(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.is_complete:
            self._is_deserted = True
        return message

    async def _tell(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._answered = message["status"]
            ours = {name for name, _ in self._headers}
            theirs = [one for one in message.get("headers", ()) if one[0].lower() not in ours]
            message = {**message, "headers": [*theirs, *self._headers]}
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True


def wrap_app(app: Starlette, *layers: Callable[[ASGIApp], ASGIApp]) -> None:
    """Put layers around the whole of an application, the first outermost.

    `add_middleware` would put them within what answers unexpected errors, and they would not see those answers.
    """
    build = app.build_middleware_stack

    def surrounded() -> ASGIApp:
        stack = build()
        for layer in reversed(layers):
            stack = layer(stack)
        return stack

    app.build_middleware_stack = surrounded  # type: ignore[method-assign]


def api_key_hash(scope: Scope) -> str | None:
    """The SHA-256 of the key that the caller shows, known here or not, in hexadecimal digits."""
    scheme, _, key = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return None
    return hash_text(key.strip(), errors="surrogateescape")


def client_address(scope: Scope) -> str | None:
    """Where the caller is, without the port. Behind a proxy it is what the proxy says, and so may be any text."""
    client = scope.get("client")
    return str(client[0])[:64] if client else None

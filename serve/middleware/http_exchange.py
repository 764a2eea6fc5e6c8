"""Observe a request and its response from outside the application."""

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
# Where the scope of a request has its session, which stands for a key.
SESSION_SCOPE = "ape.session"


class HttpExchange:
    """One request and its response, with `headers` added to the response.

    Not Starlette's BaseHTTPMiddleware, which hides disconnects from streams.
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
        self.is_complete = self._client_disconnected = False

    async def run(self, app: ASGIApp) -> None:
        """Run the application; its errors propagate."""
        try:
            await app(self.scope, self._receive_message, self._send_message)
        except ClientDisconnect:
            self._client_disconnected = self._client_disconnected or not self.is_complete
            raise
        except asyncio.CancelledError:
            self._failed = 503  # graceful shutdown has timed out
            raise
        except BaseException:
            self._failed = 500
            raise

    @property
    def status(self) -> int:
        """The final status: 499 if the client disconnected before the end, 500 if the application failed before it."""
        if self._client_disconnected:
            return CLIENT_CLOSED_REQUEST
        if self.is_complete and self._answered is not None:
            return self._answered
        return self._failed or 500

    @property
    def seconds(self) -> float:
        """Seconds since the request began."""
        return time.monotonic() - self._began

    async def _receive_message(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect" and not self.is_complete:
            self._client_disconnected = True
        return message

    async def _send_message(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._answered = message["status"]
            ours = {name for name, _ in self._headers}
            theirs = [one for one in message.get("headers", ()) if one[0].lower() not in ours]
            message = {**message, "headers": [*theirs, *self._headers]}
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self.is_complete = True


def wrap_app(app: Starlette, *layers: Callable[[ASGIApp], ASGIApp]) -> None:
    """Wrap a whole application in layers, the first outermost.

    `add_middleware` would put them inside the handler of unexpected errors, whose responses they would not see.
    """
    build = app.build_middleware_stack

    def wrapped() -> ASGIApp:
        stack = build()
        for layer in reversed(layers):
            stack = layer(stack)
        return stack

    app.build_middleware_stack = wrapped  # type: ignore[method-assign]


def api_key_hash(scope: Scope) -> str | None:
    """Return the SHA-256 of the key that the caller sent, valid or not, or of its session, in hexadecimal."""
    if session := scope.get(SESSION_SCOPE):
        return session.key_hash or None
    scheme, _, key = Headers(scope=scope).get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return None
    return hash_text(key.strip(), errors="surrogateescape")


def client_address(scope: Scope) -> str | None:
    """Return the caller's address without the port. Behind a proxy it may be any text."""
    client = scope.get("client")
    return str(client[0])[:64] if client else None

"""Server-sent events as a response."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager, aclosing, nullcontext, suppress
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from serve.middleware.disconnect import ClientGone, cancel_on_disconnect

KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = ": keep-alive\n\n"
MEDIA_TYPE = "text/event-stream"


def format_event(name: str, data: Mapping[str, Any]) -> str:
    """Format one event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


class EventStreamResponse(Response):
    """Send events until they end or the client disconnects.

    `admission` is held until all work on the events has ended; an error that it raises on entry becomes an ordinary
    response, since nothing was sent yet.

    Not Starlette's StreamingResponse: when the client disconnects, that one leaves the generator to the garbage
    collector and cancels what the generator awaits while it closes.
    """

    media_type = MEDIA_TYPE

    def __init__(self, events: AsyncGenerator[str], *, admission: AbstractContextManager[None] | None = None) -> None:
        super().__init__(headers={"Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._events = events
        self._admission = admission or nullcontext()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events as they come."""
        with self._admission, suppress(ClientGone):
            await cancel_on_disconnect(Request(scope, receive), self._send(send))

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._events) as events:
            async for event in events:
                await send({"type": "http.response.body", "body": event.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})

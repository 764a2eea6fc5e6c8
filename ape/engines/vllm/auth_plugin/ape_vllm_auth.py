"""ASGI middleware that requires the API key on all paths of vLLM; vLLM itself checks it under /v1 only.

One of the other paths loads an adapter from any folder, so on a machine with several users the key is required
everywhere except for health checks. Runs inside vLLM, without any other module of ours.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable
from typing import Any

PUBLIC_PATHS = ("/health", "/ping")
AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


class VllmKeyMiddleware:
    """ASGI middleware: 401 without the key of VLLM_API_KEY."""

    def __init__(self, app: AsgiApp) -> None:
        self.app = app
        self.expected = b"bearer " + os.environ["VLLM_API_KEY"].encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on, or answer 401."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in PUBLIC_PATHS or self._has_key(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"error": "Unauthorized"}'})

    def _has_key(self, scope: Any) -> bool:
        for name, value in scope["headers"]:
            if name.lower() == b"authorization":
                scheme, _, key = bytes(value).partition(b" ")
                return hmac.compare_digest(scheme.lower() + b" " + key, self.expected)
        return False

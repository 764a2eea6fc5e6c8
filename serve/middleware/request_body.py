"""Read request bodies within their size limits."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect

from ape.errors import TooLong
from ape.settings import Settings
from serve.middleware.disconnect import ClientGone
from serve.middleware.problems import Unreadable


async def read_json(request: Request, settings: Settings) -> Any:
    """Read and parse a JSON body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Unreadable(f"The body must be application/json, not {kind or 'of an unstated type'}.", status=415)
    try:
        return json.loads(await read_body(request, settings.max_body_bytes))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"The body is not JSON: {error}.") from error


async def read_body(request: Request, limit: int) -> bytes:
    """Read a body of at most `limit` bytes."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise TooLong(f"The body is larger than {limit:,} bytes.", actual=len(body), limit=limit)
    except ClientDisconnect as error:
        raise ClientGone from error
    return bytes(body)

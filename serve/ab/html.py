"""Our pages as answers: never kept by others, never framed, and with nothing in them that is not ours."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from ape.report.standalone import asset, templates

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


def html(text: str, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A page. Half of a surrogate pair, which has no UTF-8, becomes a question mark."""
    return HTMLResponse(text.encode("utf-8", "replace"), status, HEADERS | (headers or {}))


def page(name: str, *, status: int = 200, headers: dict[str, str] | None = None, **values: Any) -> Response:
    """A page of one of our templates."""
    script = asset("serve.ab", "live.js") if values.pop("live", False) else ""
    style = asset("serve.ab", "pages.css")
    text = _templates().get_template(name).render(style=style, script=script, **values)
    return html(text, status=status, headers=headers)


def plain(content: Any) -> Response:
    """JSON in ASCII, which may say what UTF-8 can't: half of a surrogate pair."""
    return Response(json.dumps(content), media_type="application/json", headers=HEADERS)


@lru_cache
def _templates() -> Environment:
    return templates("serve.ab")

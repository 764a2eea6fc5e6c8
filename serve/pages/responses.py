"""Our pages as answers: never kept by others, never framed, and with nothing in them that is not ours."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse

from ape.reports.base_page import Page

_PAGE = Page("serve.pages", styles=["pages.css"])
PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


def html_response(text: str, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A page. Half of a surrogate pair, which has no UTF-8, becomes a question mark."""
    return HTMLResponse(text.encode("utf-8", "replace"), status, PAGE_HEADERS | (headers or {}))


def page_response(
    name: str, *, status: int = 200, headers: dict[str, str] | None = None, **values: Any
) -> Response:
    """A page of one of our templates."""
    script = _PAGE.asset("auto_refresh.js") if values.pop("live", False) else ""
    text = _PAGE.render(name, script=script, **values)
    return html_response(text, status=status, headers=headers)


def ascii_json_response(content: Any) -> Response:
    """JSON in ASCII, which may say what UTF-8 can't: half of a surrogate pair."""
    return Response(json.dumps(content), media_type="application/json", headers=PAGE_HEADERS)

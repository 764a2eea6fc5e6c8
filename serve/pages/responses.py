"""Responses with pages of this service, which browsers must not cache, frame or sniff."""

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
    """Respond with a page. A lone surrogate, which UTF-8 can't encode, becomes a question mark."""
    return HTMLResponse(text.encode("utf-8", "replace"), status, PAGE_HEADERS | (headers or {}))


def page_response(
    name: str,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    script: str = "",
    script_address: str = "",
    has_api: bool = False,
    **values: Any,
) -> Response:
    """Respond with a template: `script` is the name of a script to inline, `script_address` of one to load."""
    inlined = _PAGE.asset(script) if script else ""
    text = _PAGE.render(name, script=inlined, script_address=script_address, has_api=has_api, **values)
    return html_response(text, status=status, headers=headers)


def script_response(name: str) -> Response:
    """Respond with a script of the pages."""
    return Response(str(_PAGE.asset(name)), media_type="text/javascript", headers=PAGE_HEADERS)


def ascii_json_response(content: Any) -> Response:
    """Respond with JSON in ASCII, which can hold a lone surrogate."""
    return Response(json.dumps(content), media_type="application/json", headers=PAGE_HEADERS)

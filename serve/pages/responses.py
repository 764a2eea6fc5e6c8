"""The shell of all pages: one layout, one style sheet, small scripts, strict headers.

How to add a page:

1. A template `serve/pages/NAME.html` that begins with `{% extends "layout.html" %}` and fills the blocks `title` and
   `main`. The layout has the landmarks, the navigation, the skip link, and two places for messages of scripts
   (`#notice`, announced politely, and `#problem`, announced at once).
2. A route that depends on `page_auth(settings)`, which sends a browser without a session to /login, and responds with
   `page_response(request, "NAME.html", nav="books", scripts=["NAME.js"], styles=["NAME.css"], …values)`. `nav` is the
   entry of the navigation that is current: passage, books or evaluation. `owner_of(request, settings)` is the owner.
3. Scripts and styles are files in `serve/pages/static`, served as /static/FILE and shipped in the wheel. Scripts are
   ES modules. The policy allows no inline script, no inline style (nor `style=` attributes; setting `element.style` or
   a class from a script is allowed) and nothing from other servers. Values for a script go into `data-…` attributes or
   `<script type="application/json" id="…">{{ values | tojson }}</script>`, which runs nothing.
4. `import { call, events, say, fail } from "./api.js"`: `await call("POST", "/v1/…", { json })` sends the CSRF token
   and throws an `ApiError` whose message is the sentence of the problem details; `fail(error)` shows it.
5. A form that works without JavaScript posts to `ADDRESS?csrf={{ csrf }}`. The middleware refuses a change by cookie
   that has neither this parameter nor the header `X-CSRF-Token`.
6. Texts of books: `lang="…" dir="auto"` on the element (fonts of Chinese, Japanese and Korean follow from `lang`),
   names in `<bdi>`. Templates escape; scripts use `textContent`, never `innerHTML`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from ape.files.hashing import hash_text
from ape.reports.base_page import Page
from ape.settings import Settings
from serve.middleware.auth import authenticate
from serve.middleware.problems import NotAllowed
from serve.middleware.sessions import session_of
from serve.schemas.problem import Problem

_PAGE = Page("serve.pages")
_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# What went wrong with a book, in words for people.
_BOOK_TITLES = {
    403: "Nothing was changed",
    404: "This book is not here",
    413: "The files are too large",
    422: "This can’t be used as it is",
}
# For pages that bring their own policy, and for files.
PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex",
}


def page_auth(settings: Settings, check: Callable[[Request, Settings], None] = authenticate) -> Any:
    """Make a check of the caller's rights a dependency of a page; a browser without a session is sent to /login."""

    async def checked(request: Request) -> None:
        try:
            check(request, settings)
        except NotAllowed as error:
            if error.status != 401 or "text/html" not in request.headers.get("accept", ""):
                raise
            raise log_in_first(request) from error

    return Depends(checked)


def log_in_first(request: Request) -> HTTPException:
    """The way to /login, and from there back to the page; a form leads back to the page above its address."""
    path, query = request.url.path, request.url.query
    if request.method not in ("GET", "HEAD"):
        path, query = path.rpartition("/")[0] or path, ""
    to = quote(f"{path}?{query}" if query else path)
    return HTTPException(303, "Log in first.", {"Location": f"/login?to={to}"})


def page_response(
    request: Request,
    name: str,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    nav: str = "",
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    **values: Any,
) -> Response:
    """Respond with a template in the layout."""
    session = session_of(request.scope)
    shell = {
        "csrf": session.csrf if session else "",
        "has_session": session is not None,
        "has_api": bool(request.app.openapi_url),
        "nav": nav,
        "scripts": scripts,
        "styles": styles,
        "bare": False,
    }
    text = _PAGE.render(name, **(shell | values))
    return html_response(text, status=status, headers={"Content-Security-Policy": _SECURITY_POLICY} | (headers or {}))


def problem_page(request: Request, problem: Problem) -> Response:
    """Respond with a problem as a page, with a way on."""
    title, message, way_on = problem.title, problem.detail or "", None
    is_link = problem.type == "urn:ape:problem:unknown-link"  # of a guest, who has no other books
    if request.url.path.startswith("/books") and not is_link:
        title = _BOOK_TITLES.get(problem.status, title)
        way_on = ("/books", "All your books") if has_page(request, "/books") else None
        if problem.status == 404:
            message = "It was deleted, or it belongs to another key. Check the address."
    elif problem.status == 404 and not is_link and has_page(request, "/"):
        way_on = ("/", "To the start page")
    return page_response(
        request, "message.html", status=problem.status, title=title, message=message, way_on=way_on, bare=is_link
    )


def has_page(request: Request, path: str) -> bool:
    """Whether the application has a route of this path: the review of one book has no list of books."""
    return any(getattr(route, "path", "") == path for route in request.app.routes)


def html_response(text: str, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Respond with a page. A lone surrogate, which UTF-8 can't encode, becomes a question mark."""
    return HTMLResponse(text.encode("utf-8", "replace"), status, PAGE_HEADERS | (headers or {}))


def ascii_json_response(content: Any) -> Response:
    """Respond with JSON in ASCII, which can hold a lone surrogate."""
    return Response(json.dumps(content), media_type="application/json", headers=PAGE_HEADERS)


def add_static_routes(app: FastAPI) -> None:
    """Add GET /static/{name}: the scripts and styles of the pages."""

    @app.get("/static/{name}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        found = _static_files().get(name)
        if found is None:
            raise HTTPException(404, "There is no such file.")
        text, etag = found
        headers = PAGE_HEADERS | {"Cache-Control": "no-cache", "ETag": etag}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(text, media_type=_STATIC_TYPES[name[name.rindex(".") :]], headers=headers)


@cache
def _static_files() -> dict[str, tuple[str, str]]:
    """The text and the ETag of each file. The style of reports is the beginning of our own."""
    folder = files("serve.pages").joinpath("static")
    texts = {
        file.name: file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith((*_STATIC_TYPES,))
    }
    texts["pages.css"] = f"{_PAGE.asset('style.css')}\n{texts['pages.css']}"
    return {name: (text, f'"{hash_text(text, length=20)}"') for name, text in texts.items()}

"""Log in to the pages with a key, enter a studio by its one-time token, and log out."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from ape.files.hashing import hash_text
from ape.settings import Settings
from serve.middleware.auth import is_known_key
from serve.middleware.problems import NotAllowed
from serve.middleware.request_body import read_body
from serve.middleware.request_log import log_fields
from serve.middleware.sessions import COOKIE, SESSION_SECONDS, PageSessions, session_of
from serve.pages.responses import PAGE_HEADERS, page_response

_MAX_FORM_BYTES = 10_000
# From a page without a referrer, forms come with the origin "null", as those of a page of another site can.
_TELL_ORIGIN = {"Referrer-Policy": "same-origin"}


def add_login_routes(app: FastAPI, settings: Settings, sessions: PageSessions) -> None:
    """Add GET and POST /login, GET /enter/{token} and POST /logout."""
    keys = (*settings.api_keys, *settings.admin_keys)

    @app.get("/login", include_in_schema=False)
    async def ask(request: Request, to: str = "/") -> Response:
        if not keys and not sessions.is_required:
            return RedirectResponse(_local_path(to), 303, PAGE_HEADERS)
        return page_response(
            request, "login.html", headers=_TELL_ORIGIN, to=_local_path(to), wrong="", has_keys=bool(keys)
        )

    @app.post("/login", include_in_schema=False)
    async def answer(request: Request) -> Response:
        if _is_from_elsewhere(request):
            raise NotAllowed("Log in on the page of this service.", status=403)
        form = parse_qs((await read_body(request, _MAX_FORM_BYTES)).decode("utf-8", "replace"))
        to = _local_path(form.get("to", ["/"])[0])
        key_hash = hash_text(form.get("key", [""])[0].strip(), errors="replace")
        if not is_known_key(key_hash, keys):
            return page_response(
                request,
                "login.html",
                status=401,
                headers=_TELL_ORIGIN,
                to=to,
                wrong="That key is not valid.",
                has_keys=bool(keys),
            )
        return _with_session(request, sessions.begin(key_hash), to)

    @app.get("/enter/{token}", include_in_schema=False)
    async def enter(request: Request, token: str) -> Response:
        log_fields(path="/enter/…")
        if session_of(request.scope) is not None:
            return RedirectResponse("/", 303, PAGE_HEADERS)
        if not sessions.redeem(token):
            message = "This address was used before. Start the studio again for a new one."
            return page_response(request, "message.html", status=403, title="Used already", message=message)
        return _with_session(request, sessions.begin(""), "/")

    @app.post("/logout", include_in_schema=False)
    async def leave(request: Request) -> Response:
        if session := session_of(request.scope):
            sessions.end(session)
        response = RedirectResponse("/login", 303, PAGE_HEADERS)
        response.delete_cookie(COOKIE)
        return response


def _is_from_elsewhere(request: Request) -> bool:
    """Whether a page of another site sends the form, to log a browser in with a key of somebody else.

    Over plain HTTP browsers state the origin only.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site in ("cross-site", "same-site")
    host = request.headers.get("host", "").lower()
    return origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")


def _with_session(request: Request, cookie: str, to: str) -> Response:
    response = RedirectResponse(to, 303, PAGE_HEADERS)
    # A proxy tells the scheme; one who forges it only makes the own cookie stricter.
    secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))
    response.set_cookie(COOKIE, cookie, max_age=SESSION_SECONDS, httponly=True, samesite="lax", secure=secure)
    return response


def _local_path(address: str) -> str:
    """Return the address if it is a path of this service, else "/": two slashes would lead to another host."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_local and address.isascii() else "/"

"""Log in to the pages: a browser can't send a key with a link, so a session cookie stands for it."""

from __future__ import annotations

import secrets
import time
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from ape.files.hashing import hash_text
from ape.settings import Settings
from serve.middleware.auth import authenticate_admin
from serve.middleware.problems import NotAllowed
from serve.middleware.request_body import read_body
from serve.pages.responses import PAGE_HEADERS, page_response

COOKIE = "ape-session"
SESSION_SECONDS = 12 * 3600
_MAX_FORM_BYTES = 10_000


class PageLogin:
    """Sessions of browsers, in memory only, by the hash of their cookie."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._expiry: dict[str, float] = {}

    async def check(self, request: Request) -> None:
        """Raise unless the caller has an admin key or a session; redirect a browser without one to the login."""
        if self._expiry.get(_hash(request.cookies.get(COOKIE, "")), 0.0) > time.monotonic():
            return
        try:
            authenticate_admin(request, self._settings)
        except NotAllowed as error:
            has_keys = self._settings.admin_keys or self._settings.api_keys
            if not has_keys or "text/html" not in request.headers.get("accept", ""):
                raise
            location = {"Location": f"/door?to={quote(request.url.path)}"}
            raise HTTPException(303, "Log in first.", location) from error

    def log_in(self, request: Request, key: str) -> str:
        """Start a session and return its secret; raise NotAllowed if the key is wrong."""
        header = (b"authorization", f"Bearer {key}".encode("latin-1"))
        rest = [pair for pair in request.scope["headers"] if pair[0] != header[0]]
        authenticate_admin(Request({**request.scope, "headers": [*rest, header]}), self._settings)
        now = time.monotonic()
        self._expiry = {one: until for one, until in self._expiry.items() if until > now}
        secret = secrets.token_urlsafe(24)
        self._expiry[_hash(secret)] = now + SESSION_SECONDS
        return secret


def add_login_routes(app: FastAPI, login: PageLogin) -> None:
    """Add GET and POST /door: ask for a key, then redirect to the page `to`."""

    @app.get("/door", include_in_schema=False)
    async def ask(to: str = "/") -> Response:
        return page_response("login.html", to=_local_path(to), wrong="")

    @app.post("/door", include_in_schema=False)
    async def answer(request: Request) -> Response:
        form = parse_qs((await read_body(request, _MAX_FORM_BYTES)).decode("utf-8", "replace"))
        to = _local_path(form.get("to", ["/"])[0])
        try:
            secret = login.log_in(request, form.get("key", [""])[0].strip())
        except (NotAllowed, UnicodeEncodeError):
            return page_response("login.html", status=401, to=to, wrong="That key is not valid for these pages.")
        response = RedirectResponse(to, 303, PAGE_HEADERS)
        secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, secret, max_age=SESSION_SECONDS, httponly=True, samesite="lax", secure=secure)
        return response


def _local_path(address: str) -> str:
    """Return the address if it is a path of this service, else "/": two slashes would lead to another host."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_local and address.isascii() else "/"


def _hash(secret: str) -> str:
    return hash_text(secret, errors="replace")

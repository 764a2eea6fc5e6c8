"""The door to the pages: a browser can't show a key with a link, so it is asked for once and remembered for a while."""

from __future__ import annotations

import secrets
import time
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from ape.errors import TooLong
from ape.files.hashing import hash_text
from ape.settings import Settings
from serve.middleware.auth import authenticate_admin
from serve.middleware.problems import NotAllowed
from serve.pages.responses import PAGE_HEADERS, page_response

COOKIE = "ape-session"
SESSION_SECONDS = 12 * 3600
_MAX_FORM_BYTES = 10_000


class PageLogin:
    """Who has shown a key. Nothing of it outlives the service, and only hashes of what browsers hold are here."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._until: dict[str, float] = {}

    async def check(self, request: Request) -> None:
        """Raise unless the caller runs the tests: by a key that may change things, shown now or before.

        A browser without one is led to where it may show it.
        """
        if self._until.get(_hash(request.cookies.get(COOKIE, "")), 0.0) > time.monotonic():
            return
        try:
            authenticate_admin(request, self._settings)
        except NotAllowed as error:
            has_keys = self._settings.admin_keys or self._settings.api_keys
            if not has_keys or "text/html" not in request.headers.get("accept", ""):
                raise
            there = {"Location": f"/door?to={quote(request.url.path)}"}
            raise HTTPException(303, "Show a key first.", there) from error

    def open_with(self, request: Request, key: str) -> str:
        """A secret for the browser that showed this key. Raises where the key is not one of ours."""
        shown = (b"authorization", f"Bearer {key}".encode("latin-1"))
        rest = [pair for pair in request.scope["headers"] if pair[0] != shown[0]]
        authenticate_admin(Request({**request.scope, "headers": [*rest, shown]}), self._settings)
        now = time.monotonic()
        self._until = {one: until for one, until in self._until.items() if until > now}
        secret = secrets.token_urlsafe(24)
        self._until[_hash(secret)] = now + SESSION_SECONDS
        return secret


def add_login_routes(app: FastAPI, door: PageLogin) -> None:
    """GET and POST /door: asks for a key, and leads to where the caller wanted to go."""

    @app.get("/door", include_in_schema=False)
    async def ask(to: str = "/") -> Response:
        return page_response("login.html", to=_local_path(to), wrong="")

    @app.post("/door", include_in_schema=False)
    async def answer(request: Request) -> Response:
        form = parse_qs((await _form(request)).decode("utf-8", "replace"))
        to = _local_path(form.get("to", ["/"])[0])
        try:
            secret = door.open_with(request, form.get("key", [""])[0].strip())
        except (NotAllowed, UnicodeEncodeError):
            return page_response("login.html", status=401, to=to, wrong="That key does not open this door.")
        led = RedirectResponse(to, 303, PAGE_HEADERS)
        secure = request.url.scheme == "https"
        led.set_cookie(COOKIE, secret, max_age=SESSION_SECONDS, httponly=True, samesite="lax", secure=secure)
        return led


async def _form(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MAX_FORM_BYTES:
            raise TooLong("That is more than a key.", limit=_MAX_FORM_BYTES)
    return bytes(body)


def _local_path(address: str) -> str:
    """A page of this service, whatever was asked for: two slashes would lead to another one."""
    fine = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if fine and address.isascii() else "/"


def _hash(secret: str) -> str:
    return hash_text(secret, errors="replace")

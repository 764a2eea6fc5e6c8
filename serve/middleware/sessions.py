"""Sessions of browsers: a signed cookie stands for a key, and every change carries a token against forged requests.

The cookie is signed with a secret of the service that is kept with the uploads, so sessions outlive a restart. It
names the key by a keyed hash: a key that is removed from the settings ends its sessions. All routes see the session as
the key itself, through `api_key_hash`; `SessionMiddleware` refuses changes without the token of the session.
"""

from __future__ import annotations

import hmac
import os
import secrets
import time
from dataclasses import dataclass
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ape.settings import Settings
from serve.middleware.ended_sessions import EndedSessions
from serve.middleware.http_exchange import SESSION_SCOPE
from serve.middleware.problems import NotAllowed, respond_to_error

COOKIE = "ape-session"
CSRF_HEADER = "x-csrf-token"
CSRF_PARAMETER = "csrf"
SESSION_SECONDS = 14 * 24 * 3600
SECRET_FILE = ".session-secret"  # noqa: S105
ENDED_FILE = ".ended-sessions"
# Set in the scope of a request where nobody may enter without a session, as in `ape studio`.
SESSION_REQUIRED_SCOPE = "ape.session_required"
_SECRET_BYTES = 32
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Forms that begin a session have none yet.
_ENTRY_PATHS = frozenset({"/login"})


@dataclass(frozen=True, slots=True)
class PageSession:
    """A browser that has shown a key, or the address that `ape studio` printed (then `key_hash` is empty)."""

    key_hash: str
    nonce: str
    csrf: str
    expires: int


class PageSessions:
    """Begins, finds and ends sessions. With an `entry_token`, a session is required and that token begins one, once."""

    def __init__(self, settings: Settings, *, entry_token: str = "") -> None:
        self.is_required = bool(entry_token)
        self._settings = settings
        self._entry_token = entry_token
        self._ended = EndedSessions(settings.uploads_folder / ENDED_FILE)

    def begin(self, key_hash: str) -> str:
        """Begin a session for a key that was checked, and return the value of its cookie."""
        content = f"{self._key_id(key_hash)}.{int(time.time()) + SESSION_SECONDS}.{secrets.token_hex(16)}"
        return f"{content}.{self._sign('session', content)}"

    def redeem(self, token: str) -> bool:
        """Whether this is the entry token, which is used up by that."""
        matches = bool(self._entry_token) and hmac.compare_digest(token.encode(), self._entry_token.encode())
        if matches:
            self._entry_token = ""
        return matches

    def find(self, cookie: str) -> PageSession | None:
        """Return the session of a cookie, or None if it is none of ours, expired or ended."""
        content, _, signature = cookie.rpartition(".")
        if content.count(".") != 2 or not hmac.compare_digest(
            signature.encode(), self._sign("session", content).encode()
        ):
            return None
        key_id, expires, nonce = content.split(".")
        key_hash = self._key_of(key_id)
        if key_hash is None or nonce in self._ended or int(expires) < time.time():
            return None
        return PageSession(key_hash, nonce, self._sign("csrf", nonce), int(expires))

    def end(self, session: PageSession) -> None:
        """End a session before its time."""
        self._ended.add(session.nonce, session.expires)

    def _key_of(self, key_id: str) -> str | None:
        known = [key.removeprefix("sha256:") for key in (*self._settings.api_keys, *self._settings.admin_keys)]
        return next((key for key in (known or [""]) if hmac.compare_digest(self._key_id(key), key_id)), None)

    def _key_id(self, key_hash: str) -> str:
        return self._sign("key", key_hash)[:32]

    def _sign(self, purpose: str, content: str) -> str:
        return hmac.digest(self._secret, f"{purpose}\0{content}".encode(), "sha256").hex()

    @cached_property
    def _secret(self) -> bytes:
        return _stored_secret(self._settings.uploads_folder) or secrets.token_bytes(_SECRET_BYTES)


def _stored_secret(folder: Path) -> bytes | None:
    """The secret of this service, made at first use; None if the folder can't be written."""
    path = folder / SECRET_FILE
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = path.with_name(f"{SECRET_FILE}-{secrets.token_hex(8)}")
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(_SECRET_BYTES))
                if not path.exists():
                    fresh.rename(path)
            finally:
                fresh.unlink(missing_ok=True)
        secret = path.read_bytes()
    except OSError:
        return None
    return secret if len(secret) == _SECRET_BYTES else None


class SessionMiddleware:
    """Finds the session of a request, and refuses a change that comes by cookie without the session's token."""

    def __init__(self, app: ASGIApp, sessions: PageSessions) -> None:
        self.app = app
        self.sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its session in the scope."""
        if scope["type"] == "http":
            scope[SESSION_REQUIRED_SCOPE] = self.sessions.is_required
            headers = Headers(scope=scope)
            session = None if "authorization" in headers else self.sessions.find(_cookie(headers))
            if session is not None:
                if _is_forged(scope, headers, session):
                    await _refusal(scope)(scope, receive, send)
                    return
                scope[SESSION_SCOPE] = session
        await self.app(scope, receive, send)


def session_of(scope: Scope) -> PageSession | None:
    """The session of a request, or None."""
    session: PageSession | None = scope.get(SESSION_SCOPE)
    return session


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _is_forged(scope: Scope, headers: Headers, session: PageSession) -> bool:
    if scope["method"] in _SAFE_METHODS or scope["path"] in _ENTRY_PATHS:
        return False
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    given = headers.get(CSRF_HEADER) or query.get(CSRF_PARAMETER, [""])[0]
    return not hmac.compare_digest(given.encode("utf-8", "replace"), session.csrf.encode())


def _refusal(scope: Scope) -> Response:
    message = (
        "This change did not come from a page of yours, or the page is older than your log-in. "
        "Reload the page and try again; nothing was changed."
    )
    return respond_to_error(Request(scope), NotAllowed(message, status=403))

"""Authentication by API keys, compared by hash in constant time; which addresses may be bound without keys."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

from fastapi import Depends, Request

from ape.errors import InputError
from ape.network import is_loopback, url_host
from ape.settings import Settings
from serve.middleware.http_exchange import api_key_hash
from serve.middleware.problems import NotAllowed
from serve.middleware.sessions import SESSION_REQUIRED_SCOPE, session_of


def refuse_open_binding(settings: Settings) -> None:
    """Raise if a service without keys would be reachable from the network."""
    if not settings.api_keys and not is_loopback(settings.host):
        raise InputError(
            f"Without an API key the service binds to this machine alone, not to {settings.host}. "
            "Set APE_API_KEYS to one or more keys, or leave --host at 127.0.0.1.",
            field="host",
        )


def auth_dependency(settings: Settings, check: Callable[[Request, Settings], None]) -> Any:
    """Make a check a dependency of a route."""

    async def checked(request: Request) -> None:  # async, or FastAPI would run it in a thread
        check(request, settings)

    return Depends(checked)


def authenticate(request: Request, settings: Settings) -> None:
    """Raise unless the caller sends a valid key, or the service has none and is addressed by a loopback name.

    The name matters: a web page in the user's browser can reach a loopback port under a host name of its own.
    """
    if not settings.api_keys:
        if not is_loopback(url_host(f"//{request.headers.get('host', '')}")):
            raise NotAllowed("Address this service as 127.0.0.1 or localhost.", status=403)
        _refuse_other_sites(request)
        if request.scope.get(SESSION_REQUIRED_SCOPE) and session_of(request.scope) is None:
            raise NotAllowed("Open the address that the studio printed when it started.", status=401)
        return
    _require_key(request, (*settings.api_keys, *settings.admin_keys))


def _refuse_other_sites(request: Request) -> None:
    """Raise if a page of another site sends the request: browsers let it send forms without a preflight."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    # A form on a page that sends no referrer has the origin "null"; the browser vouches that it is one of ours.
    is_own_form = origin == "null" and site == "same-origin"
    foreign = origin is not None and not is_own_form and not is_loopback(url_host(origin))
    if foreign or site in ("cross-site", "same-site"):
        raise NotAllowed("Pages of other sites can't use this service without a key.", status=403)


def authenticate_admin(request: Request, settings: Settings) -> None:
    """Raise unless the caller may change what is served: load adapters, move aliases."""
    if not settings.admin_keys:
        authenticate(request, settings)
        return
    try:
        _require_key(request, settings.admin_keys)
    except NotAllowed:
        if not settings.api_keys:
            raise
        authenticate(request, settings)
        raise NotAllowed("That key may not change what is served.", status=403) from None


def owner_of(request: Request, settings: Settings) -> str:
    """Return the owner of the caller's jobs: the hash of the key, or "" where the service has no keys."""
    return (api_key_hash(request.scope) or "") if settings.api_keys else ""


def _require_key(request: Request, keys: tuple[str, ...]) -> None:
    given = api_key_hash(request.scope)
    if given is None:
        raise NotAllowed("Send the header 'Authorization: Bearer KEY'.", status=401)
    if not is_known_key(given, keys):
        raise NotAllowed("That key is not valid.", status=401)


def is_known_key(key_hash: str, keys: tuple[str, ...]) -> bool:
    """Whether the hash is that of one of the keys. All are compared, so that the time taken reveals nothing."""
    return any([hmac.compare_digest(f"sha256:{key_hash}", known) for known in keys])  # noqa: C419

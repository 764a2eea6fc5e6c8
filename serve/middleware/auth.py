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
        return
    _require_key(request, (*settings.api_keys, *settings.admin_keys))


def _refuse_other_sites(request: Request) -> None:
    """Raise if a page of another site sends the request: browsers let it send forms without a preflight."""
    origin = request.headers.get("origin")
    foreign = origin is not None and not is_loopback(url_host(origin))
    if foreign or request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
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
    # All keys are compared, so that the time taken reveals nothing.
    if not any([hmac.compare_digest(f"sha256:{given}", known) for known in keys]):  # noqa: C419
        raise NotAllowed("That key is not valid.", status=401)

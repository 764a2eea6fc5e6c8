"""Who may come in: keys compared by their hashes in constant time, and where the service may bind."""

from __future__ import annotations

import hashlib
import hmac

from fastapi import Request

from ape.errors import InputError
from ape.network import host_of, is_loopback
from ape.settings import Settings
from serve.problems import NotAllowed


def refuse_open_binding(settings: Settings) -> None:
    """Raise where everyone on the network could reach a service without a key."""
    if not settings.api_keys and not is_loopback(settings.host):
        raise InputError(
            f"Without an API key the service binds to this machine alone, not to {settings.host}. "
            "Set APE_API_KEYS to one or more keys, or leave --host at 127.0.0.1.",
            field="host",
        )


def let_in(request: Request, settings: Settings) -> None:
    """Raise unless the caller shows a key, or there is none and they come by a name of this machine.

    The name matters: a page in the user's own browser can reach a loopback port under a host name of its own.
    """
    if not settings.api_keys:
        if not is_loopback(host_of(f"//{request.headers.get('host', '')}")):
            raise NotAllowed("Ask for this service as 127.0.0.1 or localhost.", status=403)
        return
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise NotAllowed("Send the header 'Authorization: Bearer KEY'.", status=401)
    shown = "sha256:" + hashlib.sha256(key.strip().encode("utf-8", "surrogateescape")).hexdigest()
    # All keys are compared, so that the time tells nothing of which one nearly matched.
    if not any([hmac.compare_digest(shown, known) for known in settings.api_keys]):  # noqa: C419
        raise NotAllowed("That key is not known here.", status=401)

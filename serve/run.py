"""Run the service: bind, say where, and drain on the way out."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
from collections.abc import Callable
from contextlib import nullcontext

import uvicorn

from ape.errors import InputError
from ape.settings import Settings
from serve.app import create_app
from serve.door import refuse_open_binding
from serve.limits import RateLimit
from serve.log import to_stdout
from serve.open import open_roster


def run(settings: Settings, *, tell: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished first, for a while. From the main thread."""
    refuse_open_binding(settings)
    RateLimit(settings.rate_limit)  # or a slip in it would be told only once the model is loaded
    with _listen(settings) as listener:
        asyncio.run(_serve(settings, listener, tell=tell))
    tell("Stopped.")


async def _serve(settings: Settings, listener: socket.socket, *, tell: Callable[[str], None]) -> None:
    """Open the engine outside of uvicorn, so that a failure is the error itself and Ctrl-C is heeded meanwhile."""
    address = _address(listener)
    tell(f"Starting on {address}: opening the engine …")
    async with open_roster(settings, tell=tell) as roster:
        config = uvicorn.Config(
            create_app(settings, nullcontext(roster), log=to_stdout),
            log_level="critical",
            timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
            server_header=False,
            proxy_headers=False,  # any caller on this machine could write what it likes into them
        )
        # Once it has drained, uvicorn raises the signal that stopped it again: but to stop when told to is success.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        tell(f"Ready on {address}/v1/post-edit")
        await uvicorn.Server(config).serve(sockets=[listener])


def _listen(settings: Settings) -> socket.socket:
    """Take the port at once: whoever calls while the engine opens has to wait, and a second service is refused."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(
            f"The service can't listen on {settings.host}:{settings.port} ({error.strerror}). "
            "Is another one running there? Choose a port with --port, or 0 for any."
        ) from error
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

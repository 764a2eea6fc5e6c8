"""Run the service: bind, say where, and drain on the way out."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import uvicorn

from ape.engines import Engine
from ape.engines.open import open_engine
from ape.errors import ApeError, InputError
from ape.models import Progress, quiet
from ape.settings import Settings
from serve.app import create_app
from serve.door import refuse_open_binding

DRAIN_SECONDS = 20


def run(settings: Settings, *, tell: Callable[[str], None], progress: Progress = quiet) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished first, for a while."""
    refuse_open_binding(settings)
    listener = _bind(settings)
    host, port = listener.getsockname()[:2]
    shown = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    failures: list[ApeError] = []

    @asynccontextmanager
    async def engine() -> AsyncIterator[Engine]:
        tell(f"Starting on {shown}: opening the engine …")
        try:
            async with open_engine(settings, progress=progress) as opened:
                tell(f"Ready on {shown}/v1/post-edit")
                yield opened
        except ApeError as error:
            failures.append(error)
            raise
        tell("Stopped.")

    # Critical only: uvicorn's own words for a failed start are a stack trace, ours are the error's sentence.
    config = uvicorn.Config(
        create_app(settings, engine()),
        log_level="critical",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        server_header=False,
        lifespan="on",
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        if failures:
            raise failures[0]


def _bind(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"The service can't listen on {settings.host}:{settings.port} ({error.strerror}). "
            "Is another one running there? Choose a port with --port, or 0 for any."
        ) from error
    return listener

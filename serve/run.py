"""Run the service: bind, say where, and drain on the way out."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import socket
import sys
from contextlib import nullcontext, suppress

import uvicorn
from fastapi import FastAPI

from ape.engines.factory import open_engine
from ape.engines.registry_entries import LogLine
from ape.errors import InputError
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.app import create_app
from serve.middleware.auth import refuse_open_binding
from serve.middleware.log_writer import background_writer
from serve.middleware.rate_limit import RateLimit
from serve.scheduler.upload_folder import prepare_upload_folder


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; requests under way are finished first, for a while. From the main thread.

    What happens is told on stderr, and a line for each request goes to stdout.
    """
    refuse_open_binding(settings)
    RateLimit(settings.rate_limit)  # or a slip in it would be told only once the model is loaded
    with (
        listen(settings) as listener,
        background_writer(sys.stderr) as tell,
        background_writer(sys.stdout, lost=lambda count: json.dumps({"lost_lines": count})) as log,
    ):
        with suppress(asyncio.CancelledError):  # told to stop while the engine was opening
            asyncio.run(_serve(settings, listener, tell=tell, log=log))
        tell("Stopped.")


async def _serve(settings: Settings, listener: socket.socket, *, tell: LogLine, log: LogLine) -> None:
    """Open store and engine outside of uvicorn: so a failure is the error itself, and signals are heeded meanwhile."""
    address = address_of(listener)
    tell(f"Starting on {address}: opening the engine …")
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    prepare_upload_folder(settings.uploads_folder)
    with JobStore(settings.jobs_url) as store:
        async with open_engine(settings, log_line=tell) as roster:
            server = _Server(create_app(settings, nullcontext(roster), store=store, log=log), settings)
            # Heeded from here on, also before it serves. Once it has drained, uvicorn raises the signal that stopped it
            # again: but to stop when told to is success.
            loop.remove_signal_handler(signal.SIGTERM)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, server.handle_exit)
            tell(f"Ready on {address}/v1/post-edit")
            await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn, which tells the application that it stops before it waits for the answers under way.

    Those who listen to a job would listen on, and the wait would be as long as may be.
    """

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
                server_header=False,
                access_log=False,
                proxy_headers=False,  # any caller on this machine could write what it likes into them
            )
        )
        self._state = app.state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, once told to."""
        self._state.scheduler.begin_shutdown()
        await super().shutdown(sockets)


def listen(settings: Settings) -> socket.socket:
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


def address_of(listener: socket.socket) -> str:
    """By which it is reached from this machine."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

"""Run the service: bind the socket, open the engine, serve, and drain at shutdown."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial

import uvicorn
from fastapi import FastAPI

from ape.engines.factory import open_engine
from ape.engines.registry_entries import LogLine
from ape.errors import InputError
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.app import create_app
from serve.middleware.auth import refuse_open_binding
from serve.middleware.connections import limited_protocol, raise_file_limit
from serve.middleware.log_writer import background_writer
from serve.middleware.rate_limit import RateLimit
from serve.scheduler.upload_folder import prepare_upload_folder


def run(settings: Settings, *, entry_token: str = "", opened: Callable[[str], None] = lambda _: None) -> None:
    """Serve until SIGTERM or SIGINT, then finish requests in progress within the drain time.

    With an `entry_token`, only the browser that opens /enter/TOKEN first gets in. `opened` is given the address once
    requests are answered. Must be called from the main thread. Status lines go to stderr, request logs to stdout.
    """
    refuse_open_binding(settings)
    raise_file_limit(settings.max_connections)
    RateLimit(settings.rate_limit)  # fail on a malformed limit before the model is loaded
    with (
        listen(settings) as listener,
        background_writer(sys.stderr) as log_status,
        background_writer(sys.stdout, lost=lambda count: json.dumps({"lost_lines": count})) as log_request,
    ):
        with suppress(asyncio.CancelledError):  # SIGTERM came while the engine was opening
            create = partial(create_app, settings, log=log_request, entry_token=entry_token)
            asyncio.run(_serve(settings, listener, create, log_status=log_status, opened=opened))
        log_status("Stopped.")


async def _serve(
    settings: Settings,
    listener: socket.socket,
    create: Callable[..., FastAPI],
    *,
    log_status: LogLine,
    opened: Callable[[str], None],
) -> None:
    """Open the store and the engine outside uvicorn, so that errors propagate and signals are handled meanwhile."""
    address = address_of(listener)
    log_status(f"Starting on {address}: opening the engine …")
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    prepare_upload_folder(settings.uploads_folder)
    with JobStore(settings.jobs_url) as store:
        async with open_engine(settings, log_line=log_status) as registry:
            server = _Server(create(nullcontext(registry), store=store), settings)
            # Handle signals before uvicorn starts. After draining it raises the signal again, which this handler
            # absorbs, so that the exit code is 0.
            loop.remove_signal_handler(signal.SIGTERM)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, server.handle_exit)
            log_status(f"Ready on {address}/v1/post-edit")
            opened(address)
            await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """A uvicorn server that notifies the scheduler before it waits for open responses.

    Event streams of jobs would otherwise stay open until the graceful shutdown times out.
    """

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=limited_protocol(settings),
                log_config=None,
                timeout_graceful_shutdown=math.ceil(settings.drain_seconds),
                server_header=False,
                access_log=False,
                proxy_headers=False,  # any local client could forge them
            )
        )
        self._state = app.state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End event streams and jobs, then shut down."""
        self._state.scheduler.begin_shutdown()
        await super().shutdown(sockets)


def listen(settings: Settings) -> socket.socket:
    """Bind before the engine opens: early clients wait, and a second service on the port fails."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With the protocol named, asyncio sends small writes at once: else each answer waits for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host.strip("[]"), settings.port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise InputError(
            f"The service can't listen on {settings.host}:{settings.port} ({error.strerror}). "
            "Is another one running there? Choose another port, or 0 for any free port."
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the base URL of the listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

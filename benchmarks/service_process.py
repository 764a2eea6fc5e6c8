"""A service with its embedded engine, as `ape serve` starts one, that also prints the address of the engine.

It prints one line of JSON once it is ready, and serves until its standard input is closed.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import uvicorn

from ape.engines.factory import open_client
from ape.settings import load_settings
from serve.app import create_app


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """Addresses of a service and its engine."""

    pid: int
    service: str
    engine: str
    key: str
    model: str

    def processor_seconds(self) -> float:
        """Processor time so far of the process and its threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def start_service_process() -> Iterator[ServiceProcess]:
    """Start a process with the current settings within the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.service_process"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout
            yield ServiceProcess(**json.loads(process.stdout.readline()))
        finally:
            process.communicate()


async def _serve() -> None:
    settings = load_settings(engine="embedded")
    async with open_client(settings) as engine:
        app = create_app(settings, nullcontext(engine))
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", server_header=False))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        model = (await engine.models())[0].name
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(
            json.dumps(asdict(ServiceProcess(os.getpid(), address, engine.url, engine._client.api_key, model))),
            flush=True,
        )
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        await serving


if __name__ == "__main__":
    asyncio.run(_serve())

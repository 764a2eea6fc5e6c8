"""A service with its embedded engine, as `ape serve` starts one, and a way to ask this engine without the service.

It prints one line of JSON once it is ready, and serves until its standard input is closed. To a second port a client
sends the numbers of sample passages, each on a line. The engine writes their drafts, from prompts that were rendered
before, and the answer is a line with the tokens that were read and written.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import uvicorn

from ape.engines import Engine, Model
from ape.engines.factory import open_client
from ape.models import DEFAULT_MODEL
from ape.passage.events import ignore_event
from ape.settings import load_settings
from benchmarks.sample_prompts import BenchmarkPassage, recorded_passages
from serve.app import create_app


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """The address of a service, the port of its engine, and the prompt format of the model."""

    pid: int
    service: str
    engine_port: int
    format: str

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
    # A model without a filter of edits: its drafts come without log-probabilities, and cost the engine least.
    settings = load_settings(engine="embedded", model=DEFAULT_MODEL)
    async with open_client(settings) as engine:
        app = create_app(settings, nullcontext(engine))
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", server_header=False))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        model = (await engine.models())[0]
        passages = await recorded_passages(model.format)
        direct = await asyncio.start_server(partial(_ask_directly, engine, model, passages), "127.0.0.1", 0)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        described = ServiceProcess(os.getpid(), address, direct.sockets[0].getsockname()[1], model.format)
        print(json.dumps(asdict(described)), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        direct.close()
        server.should_exit = True
        await serving


async def _ask_directly(
    engine: Engine,
    model: Model,
    passages: Sequence[BenchmarkPassage],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Serve one connection until the client closes it."""
    while line := await reader.readline():
        passage = passages[int(line)]
        reply = await engine.ask(passage.prompt, passage.sampling, model=model, listen=ignore_event)
        writer.write(json.dumps(asdict(reply.usage)).encode() + b"\n")
        await writer.drain()
    writer.close()


if __name__ == "__main__":
    asyncio.run(_serve())

"""A model server that post-edits the sample tale after a fixed delay: `python -m benchmarks.delayed_server SECONDS`.

It runs in its own process, so that its cost is not measured. It prints its address once it listens.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.ape.books.sample_book import mended
from tests.scripted import translation_in


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Serve the requests of a connection one after the other."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
            )
            body = await reader.readexactly(length)
            if b"/models" in head.partition(b"\r\n")[0]:
                writer.write(_response(b"application/json", _MODELS))
            else:
                await asyncio.sleep(delay)
                writer.write(_response(b"text/event-stream", _events(mended(translation_in(json.loads(body))))))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


_MODELS = json.dumps(
    {"object": "list", "data": [{"id": "delayed", "object": "model", "created": 0, "owned_by": "bench"}]}
).encode()


def _events(text: str) -> bytes:
    base = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "delayed"}
    events = (
        base | {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]},
        base | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        base | {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}},
    )
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def _response(kind: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind, len(body), body)


async def _serve(delay: float) -> None:
    server = await asyncio.start_server(
        lambda reader, writer: _answer(reader, writer, delay), "127.0.0.1", 0, limit=1 << 22
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


@contextmanager
def run_delayed_server(seconds: float) -> Iterator[str]:
    """Run the server within the block; yields its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.delayed_server", str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.communicate()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))

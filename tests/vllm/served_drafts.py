"""`ape serve --engine vllm` as a separate process, with its child processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

APE = Path(sys.executable).parent / "ape"
# What the CPU build of vLLM is quickest with here: bfloat16 needs AVX512, and compiling takes longer than the tests.
FLAGS = ("--dtype", "float32", "--enforce-eager", "--max-model-len", "2048", "--max-num-seqs", "32")
ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
START_SECONDS = 600.0


class Served:
    """A running service on a real vLLM. `said` is its stderr, `requests` its request log."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.address = ""
        self._ready = threading.Event()
        self._readers = [threading.Thread(target=read, daemon=True) for read in (self._read_talk, self._read_requests)]
        for reader in self._readers:
            reader.start()

    def _read_talk(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))
            if found := re.match(r"Ready on (http://[\d.:]+\d)", line):
                self.address = found.group(1)
                self._ready.set()
        self._ready.set()

    def _read_requests(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.requests.append(json.loads(line))

    def wait_until_ready(self) -> None:
        """Wait until it reports that it is ready; raise with its output otherwise."""
        assert self._ready.wait(START_SECONDS), "\n".join(self.said)
        assert self.address, "\n".join(self.said)

    @property
    def family(self) -> list[int]:
        """The process and all its descendants."""
        return [self.process.pid, *descendants(self.process.pid)]

    def vllm(self, what: str) -> int:
        """The process id of vLLM's "api" server, of its engine "core", or of the "worker" that has the weights."""
        begins = {"api": "-m vllm.entrypoints.openai.api_server", "core": "VLLM::EngineCore", "worker": "VLLM::Worker"}
        for pid in self.family[1:]:
            words = words_of(pid)
            if begins[what] in words and "process.py" not in words:
                return pid
        raise LookupError(what)

    @property
    def vllm_url(self) -> str:
        """The URL of vLLM itself."""
        words = words_of(self.vllm("api")).split()
        return f"http://127.0.0.1:{words[words.index('--port') + 1]}/v1"

    @property
    def vllm_key(self) -> str:
        """The key of vLLM, read from its environment."""
        variables = Path(f"/proc/{self.vllm('api')}/environ").read_bytes().split(b"\0")
        pairs = (pair.decode().partition("=") for pair in variables if b"=" in pair)
        return next(value for name, _, value in pairs if name == "VLLM_API_KEY")

    def client(self, **options: Any) -> httpx2.Client:
        """A client of it."""
        return httpx2.Client(base_url=self.address, timeout=300, **options)

    def stop(self, number: signal.Signals = signal.SIGTERM, *, seconds: float = 60.0) -> int:
        """Send a signal and wait; the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(seconds)
        for reader in self._readers:
            reader.join(10)
        return code


@contextmanager
def served(
    models: Path,
    *words: str,
    vllm_python: str,
    adapters: Path,
    home: Path,
    flags: Sequence[str] = FLAGS,
    **settings: str,
) -> Iterator[Served]:
    """Start it on the base of those models; whatever happens, none of its processes is left.

    `settings` are variables, as in APE_VLLM_SPECULATION="false".
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    environment = {
        **kept,
        **ENVIRONMENT,
        "APE_VLLM_PYTHON": vllm_python,
        "APE_ADAPTER_DIRS": str(adapters),
        "APE_CACHE": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home),
        **settings,
    }
    command = [APE, "serve", "--engine", "vllm", "--model", models / "base", "--port", "0", *words, "--", *flags]
    process = subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=home,
    )
    service = Served(process)
    try:
        service.wait_until_ready()
        yield service
    finally:
        family = service.family
        process.kill()
        process.communicate()
        wait_for(lambda: not any(map(is_alive, family)), seconds=180)


def write_cards(models: Path, adapters: Path) -> None:
    """Copy the test adapters, and write their cards with our command."""
    for name, form in (("copier", "sep"), ("rambler", "chat")):
        place = adapters / name
        place.mkdir(parents=True)
        for path in (models / name).iterdir():
            (place / path.name).write_bytes(path.read_bytes())
        words = ["models", "card", place, "--base", models / "base", "--prompt-format", form, "--languages", "fr-en"]
        subprocess.run([str(word) for word in (APE, *words)], check=True, capture_output=True)


def wait_for(condition: Callable[[], object], *, seconds: float = 120.0) -> None:
    """Poll until the condition is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not true within {seconds:g} s"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    """Whether the process runs; zombies do not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descendants(pid: int) -> list[int]:
    """All descendants of a process."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def words_of(pid: int) -> str:
    """The command line or title of a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""

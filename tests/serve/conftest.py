"""Run `ape serve` as a separate process, without configuration of the user."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

APE = Path(sys.executable).parent / "ape"


@dataclass
class Service:
    """A running `ape serve`, its stderr so far, and after its end the request log."""

    process: subprocess.Popen[str]
    address: str
    stderr_lines: list[str]
    requests: list[str] = field(default_factory=list)

    @property
    def children(self) -> list[str]:
        return Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()

    def stop(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait for the process to exit and return its exit code."""
        requests, rest = self.process.communicate(timeout=300)
        self.stderr_lines += rest.splitlines()
        self.requests += requests.splitlines()
        return self.process.returncode

    def is_listening(self) -> bool:
        with closing(socket.socket()) as connection:
            return connection.connect_ex(("127.0.0.1", int(self.address.rpartition(":")[2]))) == 0


Serve = Callable[..., Service]


def command(*words: str) -> list[str]:
    return [str(APE), "serve", *words]


@pytest.fixture(scope="session", autouse=True)
def _readers_in_a_hurry() -> Iterator[None]:
    """Processes that read books would give way to all else on a busy machine, longer than tests wait."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NICENESS", "LOWEST_NICENESS"):
            patch.setattr(f"serve.scheduler.process_calls.{name}", 0)
        yield


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment without settings, keys or a home folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("APE_", "OPENAI_"))}
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    return clean | dict.fromkeys(homes, str(tmp_path))


@pytest.fixture
def serve(tmp_path: Path, environment: dict[str, str]) -> Iterator[Serve]:
    """Start `ape serve` and wait until it is ready."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> Service:
        process = subprocess.Popen(
            command("--port", "0", *words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        started.append(process)
        assert process.stderr
        stderr_lines = [process.stderr.readline().rstrip("\n"), process.stderr.readline().rstrip("\n")]
        found = re.search(r"http://[\d.:]+\d", stderr_lines[-1])
        assert found, "\n".join([*stderr_lines, process.communicate()[1]])
        return Service(process, found.group(), stderr_lines)

    yield start
    for process in started:
        process.kill()
        process.communicate()

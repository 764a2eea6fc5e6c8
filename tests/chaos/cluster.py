"""A Ray cluster on this machine: a head and a second raylet, each killed and started again on request."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

_STORE_BYTES = str(100 * 1024**2)


class RayCluster:
    """Two raylets, the first with the head of the cluster."""

    def __init__(self, *, cpus: int = 3) -> None:
        self._cpus = cpus
        # Paths of sockets may have 107 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="ape-ray-", dir="/tmp"))
        self._port = _free_port()
        self.address = f"127.0.0.1:{self._port}"
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        token = self._folder / "token"
        token.write_text(secrets.token_hex(32), encoding="utf-8")
        # A token of its own, so that nothing else of this machine can join.
        own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        # On a busy machine Ray's limits are too short, and its workers, nice by default, get nothing.
        own |= {"RAY_raylet_start_wait_time_s": "600", "RAY_worker_niceness": "0"}
        self.environment = os.environ | own

    def __enter__(self) -> RayCluster:
        try:
            self.start("head")
            self.start("node")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self._nodes):
            self.kill(name)
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self, name: str) -> None:
        """Start the head or the node, and wait until it is up."""
        place = ["--head", "--port", str(self._port), "--temp-dir", str(self._folder), "--include-dashboard=false"]
        command = [
            *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
            *(("--node-ip-address", "127.0.0.1", *place) if name == "head" else ("--address", self.address)),
            *("--num-cpus", str(self._cpus), "--object-store-memory", _STORE_BYTES),
        ]
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        self._nodes[name] = process
        deadline = time.monotonic() + 600
        while not (raylets := _named(process, "raylet")) and time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError((self._folder / f"{name}.log").read_text(errors="replace")[-2_000:])
            time.sleep(0.5)
        assert raylets, "the raylet did not start"
        time.sleep(2)

    def kill(self, name: str) -> None:
        """Kill a raylet with all that belongs to it, as when its machine is switched off."""
        process = self._nodes.pop(name)
        with suppress(psutil.NoSuchProcess):
            for one in psutil.Process(process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    one.kill()
        process.kill()
        process.wait(60)

    def actors(self) -> list[psutil.Process]:
        """The processes of the batch's actors."""
        found = []
        for node in self._nodes.values():
            found += _named(node, "StretchActor")
        return found


def _named(process: subprocess.Popen[bytes], name: str) -> list[psutil.Process]:
    """The processes below this one with the word in their command."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for one in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                command = one.cmdline()
                if command and name in (Path(command[0]).name if name == "raylet" else " ".join(command)):
                    found.append(one)
    return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])

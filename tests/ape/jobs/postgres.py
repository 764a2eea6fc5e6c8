"""A temporary PostgreSQL server for tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DEBIAN = Path("/usr/lib/postgresql")


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server; `url` is that of a database."""

    port: int
    folder: Path
    control: tuple[str, ...]
    options: tuple[str, ...]

    def stop(self) -> None:
        """Stop the server as a crash would, with all its connections."""
        _run([*self.control, "-m", "immediate", "stop"], self.folder)

    def start(self) -> None:
        """Start the server."""
        _run([*self.control, *self.options, "start"], self.folder)

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://ape@127.0.0.1:{self.port}/{database}"

    def fresh(self, name: str) -> str:
        """Create an empty database and return its URL."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url_of(name)


def programs() -> Path | None:
    """The folder of initdb and pg_ctl, or None where PostgreSQL is not installed."""
    found = shutil.which("pg_ctl")
    candidates = [Path(found).resolve().parent] if found else []
    if _DEBIAN.is_dir():
        candidates += [folder / "bin" for folder in sorted(_DEBIAN.iterdir(), reverse=True)]
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


def missing() -> str:
    """The reason why no server can be started, or ""."""
    if programs() is None:
        return "PostgreSQL is not installed"
    if os.geteuid() == 0 and _user() is None:
        return "PostgreSQL does not run as root, and there is no user postgres"
    return ""


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run a server on a free loopback port, without fsync; its data is deleted at the end."""
    where = programs()
    assert where, missing()
    # Not in pytest's folder, which nobody but its owner may enter, and short: a socket's path has 107 characters at
    # most.
    folder = Path(tempfile.mkdtemp(prefix="ape-pg-"))
    user = _user()
    if os.geteuid() == 0 and user:
        shutil.chown(folder, user=user)
    data, port = folder / "data", _free_port()
    try:
        make = [str(where / "initdb"), "-D", str(data), "-U", "ape", "-A", "trust", "-N"]
        _run([*make, "-E", "UTF8", "--locale=C"], folder)
        options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off -c max_connections=100"
        control = (str(where / "pg_ctl"), "-D", str(data), "-w", "-t", "60")
        server = Postgres(port, folder, control, ("-l", str(folder / "log"), "-o", options))
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str], folder: Path) -> None:
    user: dict[str, Any] = {"user": _user(), "group": _user(), "extra_groups": []} if os.geteuid() == 0 else {}
    # Output goes to a file: the server keeps it open for as long as it runs.
    with (folder / "out").open("ab") as out:
        done = subprocess.run(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd="/", **user)
    assert done.returncode == 0, (folder / "out").read_text() + _log(folder)


def _log(folder: Path) -> str:
    log = folder / "log"
    return log.read_text() if log.exists() else ""


def _user() -> str | None:
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

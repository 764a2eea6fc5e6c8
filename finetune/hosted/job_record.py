"""Record of a job, written before it is sent, so that an interrupted command does not pay twice."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from ape.errors import ApeError, Conflict, InputError
from ape.files.atomic import write_text_atomic

RECORD_FILE = "job.json"


class HostedJobOrder(BaseModel):
    """Everything that identifies a job; None leaves a value to the provider."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: str
    training: str
    """SHA-256 of the file"""
    validation: str | None = None
    epochs: int = 2
    batch_size: int | None = None
    learning_rate_multiplier: float | None = None
    seed: int = 1
    suffix: str | None = None
    prompt: str
    data: str
    languages: tuple[str, ...] = ()


class HostedJobState(BaseModel):
    """State of a job: files by SHA-256, the order, its ticket, and the job id once it exists.

    The ticket goes with the order, so that a job whose answer never reached us can be found again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    url: str
    files: dict[str, str] = {}
    order: HostedJobOrder | None = None
    ticket: str | None = None
    job: str | None = None


class HostedJobRecord:
    """The state of a directory, written to disk at every change."""

    def __init__(self, path: Path, state: HostedJobState) -> None:
        self.path = path
        self.state = state

    def update(self, **changes: object) -> None:
        """Change the state and sync it to disk."""
        self.state = self.state.model_copy(update=changes)
        try:
            write_text_atomic(self.path, self.state.model_dump_json(indent=2) + "\n", sync=True)
        except OSError as error:
            known = f" The job is {self.state.job}." if self.state.job else ""
            raise ApeError(f"{self.path} can't be written: {error.strerror}.{known}") from error

    def record_file(self, sha256: str, id: str) -> None:
        """Record an uploaded file."""
        self.update(files=self.state.files | {sha256: id})

    def record_order(self, order: HostedJobOrder) -> str:
        """Record an order that is about to be sent, with its ticket."""
        ticket = secrets.token_hex(16)
        self.update(order=order, ticket=ticket, job=None)
        return ticket


@contextmanager
def open_job_record(directory: Path, *, url: str) -> Iterator[HostedJobRecord]:
    """Open the record of a directory, locked for one command at a time."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory / f".{RECORD_FILE}.lock", timeout=0)
        with lock:
            yield HostedJobRecord(directory / RECORD_FILE, _read(directory / RECORD_FILE, url=url))
    except Timeout as error:
        raise Conflict(
            f"Another command is using {directory}. Wait until it ends, or use another directory.", field="out"
        ) from error
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise InputError(f"{directory} can't be used: {error.strerror}.", field="out") from error


def _read(path: Path, *, url: str) -> HostedJobState:
    try:
        state = HostedJobState.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return HostedJobState(url=url)
    except ValidationError as error:
        raise InputError(
            f"{path} can't be read, so a job may be running. Inspect the file, or use another directory.", field="out"
        ) from error
    if state.url != url:
        raise Conflict(f"{path.parent} belongs to {state.url}, not to {url}. Use another directory.", field="out")
    return state

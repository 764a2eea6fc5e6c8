"""Workers of jobs, their stretches, and whether a worker is alive.

A worker holds stretches until it releases them or loses them: when its lease expires, or at once when its process ran
on this machine and has ended. Each claim has a turn, and nothing can be written under a turn that is over.
"""

from __future__ import annotations

import os
import socket
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ape.jobs.job_paragraph import JobParagraph, PlannedParagraph

_PROC = Path("/proc")
_ENDED = ("Z", "X", "x")


@dataclass(frozen=True, slots=True)
class JobWorker:
    """A worker process. `started` distinguishes it from a later process with the same number."""

    id: str
    host: str
    pid: int
    started: str

    @classmethod
    def here(cls) -> JobWorker:
        """A new worker in this process."""
        pid = os.getpid()
        return cls(uuid.uuid4().hex, this_host(), pid, _started(pid) or "")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Paragraphs that one worker post-edits in order, including finished ones.

    `before` are the paragraphs just before the first in the same chapter, as many as the recipe uses as context. `turn`
    identifies the claim.
    """

    job: str
    number: int
    worker: str
    turn: int
    rows: tuple[JobParagraph, ...]
    before: tuple[PlannedParagraph, ...]


@cache
def this_host() -> str:
    """This machine and boot: process numbers are comparable within it."""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}/{boot}/{os.readlink(_PROC / 'self/ns/pid')}"  # noqa: PTH115, no path
    return f"{socket.gethostname()}/{uuid.getnode():x}"


def has_ended(worker: JobWorker) -> bool:
    """Whether the process has certainly ended. False where that is unknown."""
    if worker.host != this_host():
        return False
    started = _started(worker.pid)
    return _is_gone(worker.pid) if started is None else started != worker.started


def _started(pid: int) -> str | None:
    """The start time of the process in ticks since boot; empty for a zombie, None where it is hidden."""
    try:
        # Its name is in brackets and may hold anything.
        state, *rest = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return "" if state in _ENDED else rest[18]


def _is_gone(pid: int) -> bool:
    """Whether no process has that number; one of another user may be hidden."""
    if os.name != "posix":
        return False  # there a signal of 0 would not only ask
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False

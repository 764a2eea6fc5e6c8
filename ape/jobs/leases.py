"""Who works on what, and whether it still lives.

A worker holds stretches until it lets go of them, or until somebody takes them: when it was not heard of for a while,
or at once when its process ran on this machine and does not any more. Each claim has a turn, and nothing can be
written into a stretch in a turn that is over.
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
    """One who works: `started` tells its process from a later one of the same number."""

    id: str
    host: str
    pid: int
    started: str

    @classmethod
    def here(cls) -> JobWorker:
        """A new one in this process."""
        pid = os.getpid()
        return cls(uuid.uuid4().hex, this_host(), pid, _started(pid) or "")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Paragraphs that one worker does in order, the finished ones among them.

    `before` are the paragraphs to edit that come just before its first in the same chapter, as many as the recipe shows
    as context. `turn` is what the claim is known by.
    """

    job: str
    number: int
    worker: str
    turn: int
    rows: tuple[JobParagraph, ...]
    before: tuple[PlannedParagraph, ...]


@cache
def this_host() -> str:
    """This machine since it was started, as far as process numbers mean the same."""
    with suppress(OSError):
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()}/{boot}/{os.readlink(_PROC / 'self/ns/pid')}"  # noqa: PTH115, no path
    return f"{socket.gethostname()}/{uuid.getnode():x}"


def has_ended(worker: JobWorker) -> bool:
    """Whether its process surely runs no more. False where that can't be known from here."""
    if worker.host != this_host():
        return False
    started = _started(worker.pid)
    return _is_gone(worker.pid) if started is None else started != worker.started


def _started(pid: int) -> str | None:
    """When the process began, in ticks since the machine did; empty for its corpse, None where we can't see it."""
    try:
        # Its name is in brackets and may hold anything.
        state, *rest = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return "" if state in _ENDED else rest[18]


def _is_gone(pid: int) -> bool:
    """Whether nothing has that number: a process of another user may be hidden from us."""
    if os.name != "posix":
        return False  # there a signal of 0 would not only ask
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False

"""Quotas of books for each key: unfinished jobs, and bytes on disk."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from ape.errors import ApeError
from ape.jobs.job import Job, JobState
from ape.jobs.store import JobStore
from ape.settings import Settings

_UNFINISHED = frozenset({JobState.RUNNING, JobState.PAUSED, JobState.FAILED})


class JobQuotaReached(ApeError):
    """The key has too many unfinished jobs."""

    status = 429
    title = "Too many jobs"


class StorageQuotaReached(ApeError):
    """The books of the key take too much disk."""

    status = 507
    title = "Storage quota reached"


class BookQuota:
    """Admits books while their owner has room, counting those that are being received."""

    def __init__(self, store: JobStore, folder: Path, settings: Settings, *, owns: Callable[[Job], bool]) -> None:
        self._store = store
        self._folder = folder
        self._owns = owns
        self._max_jobs = settings.max_jobs
        self._max_bytes = settings.max_stored_bytes
        self._uploads: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()

    @asynccontextmanager
    async def admit(self, owner: str, size: int) -> AsyncIterator[None]:
        """Reserve room for a book of at most `size` bytes for the length of the block, or raise."""
        self._uploads[owner] += 1
        self._bytes[owner] += size
        try:
            jobs, stored = await asyncio.to_thread(self._usage, owner)
            self._check(jobs + self._uploads[owner], stored + self._bytes[owner])
            yield
        finally:
            self._uploads[owner] -= 1
            self._bytes[owner] -= size
            if not self._uploads[owner]:
                del self._uploads[owner], self._bytes[owner]

    async def refuse_if_full(self, owner: str, size: int) -> None:
        """Raise where the owner has no room for this many bytes more."""
        _, stored = await asyncio.to_thread(self._usage, owner)
        self._check(0, stored + self._bytes[owner] + size)

    def _check(self, jobs: int, stored: int) -> None:
        if jobs > self._max_jobs:
            raise JobQuotaReached(
                f"This key has {jobs - 1:,} unfinished jobs, of at most {self._max_jobs:,} (max_jobs). Wait for them, "
                "or delete some."
            )
        if stored > self._max_bytes:
            raise StorageQuotaReached(
                f"With this, the books of this key would take {stored:,} bytes, of at most {self._max_bytes:,} "
                "(max_stored_bytes). Delete jobs that you have downloaded."
            )

    def _usage(self, owner: str) -> tuple[int, int]:
        """The unfinished jobs of the owner, and the bytes of all."""
        jobs = [job for job in self._store.jobs(owner=owner, with_names=False) if self._owns(job)]
        stored = sum(_size(self._folder / job.id) for job in jobs) + self._store.names_characters(owner)
        return sum(job.state in _UNFINISHED for job in jobs), stored


def _size(folder: Path) -> int:
    total = 0
    for path in folder.glob("*"):
        with suppress(OSError):  # removed meanwhile
            total += path.stat().st_size
    return total

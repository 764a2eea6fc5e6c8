"""The quota of batch files for each key: bytes on disk, with those that are being received."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ape.jobs.batch_store import BatchStore
from serve.middleware.book_quota import StorageQuotaReached


class FileQuota:
    """Admits files while their owner has room."""

    def __init__(self, store: BatchStore, limit: int) -> None:
        self._store = store
        self._limit = limit
        self._receiving: Counter[str] = Counter()

    @asynccontextmanager
    async def admit(self, owner: str, size: int) -> AsyncIterator[None]:
        """Reserve room for a file of at most `size` bytes for the length of the block, or raise."""
        self._receiving[owner] += size
        try:
            stored = await asyncio.to_thread(self._store.stored_bytes, owner) + self._receiving[owner]
            if stored > self._limit:
                raise StorageQuotaReached(
                    f"With this file, the files of this key would take {stored:,} bytes, of at most {self._limit:,} "
                    "(max_stored_bytes). Delete files that you no longer need."
                )
            yield
        finally:
            self._receiving[owner] -= size
            if not self._receiving[owner]:
                del self._receiving[owner]

"""The quota of reviews for each key: what the history of its decisions takes in the database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ape.jobs.store import JobStore
from ape.review.log import stored_characters
from serve.middleware.book_quota import StorageQuotaReached

# Counting reads the whole history of a key.
RECOUNT_SECONDS = 30.0


class ReviewQuota:
    """Admits decisions while the owner of the book has room. Without a limit all are admitted."""

    def __init__(self, store: JobStore, limit: int | None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._limit = limit
        self._clock = clock
        self._counted: dict[str, tuple[float, int]] = {}

    async def check(self, owner: str) -> None:
        """Raise where the reviews of this owner take too much; what is being stored now is not counted yet."""
        if self._limit is None:
            return
        at, stored = self._counted.get(owner, (-RECOUNT_SECONDS, 0))
        if self._clock() - at >= RECOUNT_SECONDS:
            stored = await asyncio.to_thread(self._count, owner)
            self._counted[owner] = self._clock(), stored
        if stored > self._limit:
            raise StorageQuotaReached(
                f"The history of the reviews of this key takes {stored:,} characters, of at most {self._limit:,} "
                "(max_stored_bytes). Delete jobs whose review is finished."
            )

    def _count(self, owner: str) -> int:
        with self._store.database.read_transaction() as connection:
            return stored_characters(connection, owner)

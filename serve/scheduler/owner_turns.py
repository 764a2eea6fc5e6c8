"""Turns of owners: each has little under way at once, however much it asks for, and waits for its own work alone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class OwnerTurns:
    """Gives each owner `of_owner` turns at once."""

    def __init__(self, of_owner: int = 1) -> None:
        self._of_owner = of_owner
        self._owners: dict[str, asyncio.Semaphore] = {}
        self._waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncIterator[None]:
        """Wait for a turn, and hold it for the length of the block."""
        self._waiting[owner] += 1
        own = self._owners.setdefault(owner, asyncio.Semaphore(self._of_owner))
        try:
            async with own:
                yield
        finally:
            self._waiting[owner] -= 1
            if not self._waiting[owner]:
                del self._waiting[owner], self._owners[owner]

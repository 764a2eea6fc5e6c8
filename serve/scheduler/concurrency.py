"""Limit how many paragraphs of books the engine works on at once, so that interactive passages are not starved.

The limit is shared fairly between owners, not between jobs: the owner with the fewest paragraphs in progress is next.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ape.engines import Engine, Model
from ape.engines.wrapper import EngineWrapper
from ape.jobs.job import Job
from ape.settings import Settings


def book_concurrency(settings: Settings) -> int:
    """The configured limit for books, or half of the engine's concurrency."""
    return settings.book_concurrency or max(1, settings.concurrency // 2)


@dataclass(slots=True, eq=False)
class _Waiter:
    cost: int
    admitted: asyncio.Future[None]


class FairConcurrencyLimit:
    """A semaphore that admits the owner who holds the least; first come, first served within an owner."""

    def __init__(self, limit: int) -> None:
        self.limit = self.free = limit
        self._held: Counter[str] = Counter()
        # In the order of the owners' last turns.
        self._waiting: dict[str, deque[_Waiter]] = {}

    @asynccontextmanager
    async def acquire(self, owner: str, cost: int) -> AsyncIterator[None]:
        """Hold `cost` units for the length of the block, at most the whole limit."""
        waiter = _Waiter(min(cost, self.limit), asyncio.get_running_loop().create_future())
        self._waiting.setdefault(owner, deque()).append(waiter)
        self._admit_next()
        try:
            await waiter.admitted
        except asyncio.CancelledError:
            if waiter.admitted.done() and not waiter.admitted.cancelled():
                self._release(owner, waiter.cost)  # admitted and cancelled at the same moment
            else:
                self._forget(owner, waiter)
            raise
        try:
            yield
        finally:
            self._release(owner, waiter.cost)

    def _release(self, owner: str, cost: int) -> None:
        self.free += cost
        self._held[owner] -= cost
        if not self._held[owner]:
            del self._held[owner]
        self._admit_next()

    def _forget(self, owner: str, waiter: _Waiter) -> None:
        waiters = self._waiting[owner]
        waiters.remove(waiter)
        if not waiters:
            del self._waiting[owner]
        self._admit_next()  # it may have blocked the others

    def _admit_next(self) -> None:
        while (owner := self._next_owner()) is not None:
            waiters = self._waiting[owner]
            # A cancelled waiter stays in the queue until its task runs.
            waiter = next(waiter for waiter in waiters if not waiter.admitted.cancelled())
            if waiter.cost > self.free:
                return  # cheaper waiters must not overtake, or an expensive one would starve
            waiters.remove(waiter)
            del self._waiting[owner]
            if waiters:
                self._waiting[owner] = waiters  # now the last
            self.free -= waiter.cost
            self._held[owner] += waiter.cost
            waiter.admitted.set_result(None)

    def _next_owner(self) -> str | None:
        owners = [
            owner
            for owner, waiters in self._waiting.items()
            if any(not waiter.admitted.cancelled() for waiter in waiters)
        ]
        return min(owners, key=lambda owner: self._held[owner], default=None)


class BookEngine(EngineWrapper):
    """The engine for one job, within the concurrency limit for books.

    After `close`, paragraphs in progress finish and no new ones start.
    """

    def __init__(self, engine: Engine, limit: FairConcurrencyLimit, job: Job) -> None:
        super().__init__(engine)
        self.active_paragraphs = 0
        self._limit = limit
        self._owner = job.owner
        self._cost = min(job.recipe.candidates, limit.limit)
        self._closed = False
        self._idle = asyncio.Event()

    @property
    def concurrency(self) -> int:
        """How many paragraphs of the job can be in progress if it is the only one."""
        return max(1, self._limit.limit // self._cost)

    def close(self) -> None:
        """Start no new paragraphs."""
        self._closed = True
        if not self.active_paragraphs:
            self._idle.set()

    async def wait_until_idle(self) -> None:
        """Wait until the engine is closed and no paragraph is in progress."""
        await self._idle.wait()

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """Hold the model for one paragraph with all its drafts."""
        async with self._limit.acquire(self._owner, self._cost):
            if not self._closed:
                async with self._active(name) as model:
                    yield model
                return
        await asyncio.Future[None]()  # until the scheduler cancels the job
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def _active(self, name: str) -> AsyncIterator[Model]:
        self.active_paragraphs += 1
        try:
            async with self.engine.using(name) as model:
                yield model
        finally:
            self.active_paragraphs -= 1
            if self._closed and not self.active_paragraphs:
                self._idle.set()

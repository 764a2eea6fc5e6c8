"""How many paragraphs of books are with the engine at once, so that passages somebody waits for are not starved.

The places are shared between owners, not between jobs: whoever has fewer paragraphs at work is next.
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
    """Half of what the engine takes, so that the other half is left for passages; or what the settings say."""
    return settings.book_lanes or max(1, settings.places // 2)


@dataclass(slots=True, eq=False)
class _Waiter:
    cost: int
    turn: asyncio.Future[None]


class FairConcurrencyLimit:
    """So many places, given to the owner who has the fewest at the time; first come, first served within one."""

    def __init__(self, count: int) -> None:
        self.count = self.free = count
        self._held: Counter[str] = Counter()
        # The order of the owners is that of their last turns.
        self._waiting: dict[str, deque[_Waiter]] = {}

    @asynccontextmanager
    async def place(self, owner: str, cost: int) -> AsyncIterator[None]:
        """Hold so many places for the length of the block, all of them at the most."""
        waiting = _Waiter(min(cost, self.count), asyncio.get_running_loop().create_future())
        self._waiting.setdefault(owner, deque()).append(waiting)
        self._let_in()
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.done() and not waiting.turn.cancelled():
                self._give_back(owner, waiting.cost)  # let in and cancelled in the same moment
            else:
                self._forget(owner, waiting)
            raise
        try:
            yield
        finally:
            self._give_back(owner, waiting.cost)

    def _give_back(self, owner: str, cost: int) -> None:
        self.free += cost
        self._held[owner] -= cost
        if not self._held[owner]:
            del self._held[owner]
        self._let_in()

    def _forget(self, owner: str, waiting: _Waiter) -> None:
        line = self._waiting[owner]
        line.remove(waiting)
        if not line:
            del self._waiting[owner]
        self._let_in()  # it may have been the one for whom the others waited

    def _let_in(self) -> None:
        while (owner := self._next_owner()) is not None:
            line = self._waiting[owner]
            # One that was cancelled is in line until it hears of that.
            waiting = next(one for one in line if not one.turn.cancelled())
            if waiting.cost > self.free:
                return  # nobody cheaper slips past, or a dear one would wait for ever
            line.remove(waiting)
            del self._waiting[owner]
            if line:
                self._waiting[owner] = line  # now the last
            self.free -= waiting.cost
            self._held[owner] += waiting.cost
            waiting.turn.set_result(None)

    def _next_owner(self) -> str | None:
        lines = self._waiting.items()
        owners = [owner for owner, line in lines if any(not one.turn.cancelled() for one in line)]
        return min(owners, key=lambda owner: self._held[owner], default=None)


class BookEngine(EngineWrapper):
    """The engine as one job sees it: through its share of the places.

    `close` lets the paragraphs in hand end and no other begin.
    """

    def __init__(self, engine: Engine, places: FairConcurrencyLimit, job: Job) -> None:
        super().__init__(engine)
        self.in_hand = 0
        self._places = places
        self._job = job
        self._cost = min(job.recipe.candidates, places.count)
        self._closed = False
        self._idle = asyncio.Event()

    @property
    def lanes(self) -> int:
        """How many paragraphs of the job there may be at once where it is the only one."""
        return max(1, self._places.count // self._cost)

    def close(self) -> None:
        """Begin no other paragraph."""
        self._closed = True
        if not self.in_hand:
            self._idle.set()

    async def idle(self) -> None:
        """Wait until it is closed and the paragraphs in hand have ended."""
        await self._idle.wait()

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """The model, for one paragraph with all its drafts."""
        async with self._places.place(self._job.owner, self._cost):
            if not self._closed:
                async with self._held(name) as model:
                    yield model
                return
        await asyncio.Future[None]()  # until whoever closed it cancels the work
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def _held(self, name: str) -> AsyncIterator[Model]:
        self.in_hand += 1
        try:
            async with self.engine.using(name) as model:
                yield model
        finally:
            self.in_hand -= 1
            if self._closed and not self.in_hand:
                self._idle.set()

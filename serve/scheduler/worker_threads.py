"""Threads for long work on books: reading a whole book, writing it, making a report. One of each owner at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from ape.cancellation import finish_despite_cancellation
from serve.scheduler.owner_turns import OwnerTurns

T = TypeVar("T")
P = ParamSpec("P")

# Threads take turns with the event loop: more of them would slow every request.
WORKER_THREADS = 3


class WorkerThreads:
    """A few threads, shared fairly between owners."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(WORKER_THREADS, thread_name_prefix="books")
        self._turns = OwnerTurns()

    async def run(self, owner: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a long call for an owner, to its end even if the caller is cancelled."""
        async with self._turns.turn(owner):
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(self._threads, lambda: call(*args, **kwargs))
            return await finish_despite_cancellation(work)

    async def close(self) -> None:
        """Wait for the calls that run."""
        await asyncio.to_thread(self._threads.shutdown)

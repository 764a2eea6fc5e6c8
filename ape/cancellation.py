"""Await a worker thread even when the caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def finish_despite_cancellation(work: Awaitable[T]) -> T:
    """Await the work to its end; re-raise a cancellation afterwards."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(Exception):
            await task
        raise


async def stop_in_thread(stop: Callable[[], None]) -> None:
    """Call `stop` in a worker thread and await its end, also despite a cancellation.

    At exit, when the interpreter starts no more threads, it is called in this one.
    """
    try:
        work = asyncio.get_running_loop().run_in_executor(None, stop)
    except RuntimeError:
        stop()
    else:
        await finish_despite_cancellation(work)

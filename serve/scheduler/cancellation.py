"""Await a worker thread even when the caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
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

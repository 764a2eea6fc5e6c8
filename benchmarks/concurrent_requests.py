"""Run requests with a fixed concurrency, and time them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


async def run_concurrently(
    items: Sequence[Item], request: Callable[[Item], Awaitable[Answer]], *, concurrency: int
) -> tuple[list[Answer], float]:
    """The answers in the order of the items, and the requests per second."""
    pending = iter(enumerate(items))
    answers: dict[int, Answer] = {}

    async def worker() -> None:
        for index, item in pending:
            answers[index] = await request(item)

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    rate = len(items) / (time.perf_counter() - start)
    return [answers[index] for index in range(len(items))], rate

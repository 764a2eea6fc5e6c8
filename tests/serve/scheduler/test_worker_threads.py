"""Long work of one owner never holds up that of others, however much it is."""

from __future__ import annotations

import asyncio
import threading

from serve.scheduler.worker_threads import WORKER_THREADS, WorkerThreads


async def test_one_owner_never_takes_all_threads() -> None:
    threads, end = WorkerThreads(), threading.Event()
    many = [asyncio.create_task(threads.run("busy", end.wait, 60)) for _ in range(4 * WORKER_THREADS)]
    await asyncio.sleep(0)
    try:
        assert await asyncio.wait_for(threads.run("other", lambda: "done"), 30) == "done"
        assert not any(one.done() for one in many)
    finally:
        end.set()
    assert all(await asyncio.gather(*many))
    await threads.close()

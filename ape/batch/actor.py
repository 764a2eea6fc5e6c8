"""The actor of a batch: it edits stretches with engines of its own, in the loop of `ape book edit`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ape.batch.engine_pool import EnginePool
from ape.batch.folder import BatchFolder
from ape.batch.models import engine_settings_of
from ape.batch.records import StretchFile, StretchProgress, quarantine, read_progress
from ape.batch.rows import RESULT_SCHEMA, BatchStretch, results_to_json
from ape.errors import StoreError
from ape.jobs.book_names import BookNames
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.model_check import SameModelEngine
from ape.jobs.stretch_editor import EngineOutage, StretchEditor
from ape.settings import Settings

# Ledgers in memory: rows are sorted by book, so that few are needed at a time.
_LEDGERS = 8


@dataclass(frozen=True, slots=True)
class BatchWork:
    """What an actor needs: the folder, its engines, and how many stretches it edits at once.

    `quarantined` are stretches to leave alone. The actor gives up when no engine answers for `patience_seconds`.
    """

    folder: str
    settings: Settings
    urls: tuple[str, ...]
    concurrency: int
    max_failures: int = 3
    patience_seconds: float = 300.0
    quarantined: frozenset[str] = frozenset()


class StretchActor:
    """Edits blocks of stretches. Several blocks may be under way; their stretches share the engines.

    Ray ends its process without closing it, and with that go its engines; a vLLM of ours watches its parent.
    """

    def __init__(self, work: BatchWork, on_progress: Callable[[int, int], None] = lambda done, failed: None) -> None:
        self._work = work
        self._on_progress = on_progress
        self._folder = BatchFolder(work.folder)
        self._ledger = lru_cache(maxsize=_LEDGERS)(self._read_ledger)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        self._thread.start()
        self._run(self._open())

    def __call__(self, block: Mapping[str, Sequence[str]]) -> dict[str, pa.Array]:
        """Edit the stretches of a block; a row for each that is finished. Others are kept apart and give none."""
        names = list(block)
        rows = [dict(zip(names, map(str, row), strict=True)) for row in zip(*block.values(), strict=True)]
        stretches = [BatchStretch.from_row(row) for row in rows if row["id"] not in self._work.quarantined]
        finished = self._run(self._edit_all(stretches))
        table = pa.Table.from_pylist([row for row in finished if row], schema=RESULT_SCHEMA)
        return {name: table[name].combine_chunks() for name in table.column_names}

    def close(self) -> None:
        """Close the engines and the loop, where the process goes on."""
        self._run(self._pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _open(self) -> None:
        engines = engine_settings_of(self._work.settings, self._work.urls)
        self._pool = EnginePool(
            engines, concurrency=self._work.concurrency, patience_seconds=self._work.patience_seconds
        )
        self._slots = asyncio.Semaphore(self._work.concurrency)
        await self._pool.open()

    async def _edit_all(self, stretches: Sequence[BatchStretch]) -> list[dict[str, str] | None]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._edit(stretch)) for stretch in stretches]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the others were cancelled, or failed alike
        return [task.result() for task in tasks]

    async def _edit(self, stretch: BatchStretch) -> dict[str, str] | None:
        """Edit a stretch until it is finished or kept apart; when its engine dies, go on with another."""
        async with self._slots:
            progress = await asyncio.to_thread(read_progress, self._folder, stretch.id)
            names = await asyncio.to_thread(self._ledger, stretch.names) if stretch.names else None
            while True:
                began, known = time.monotonic(), len(progress.results)
                while len(progress.results) == known:
                    try:
                        return await self._edit_once(stretch, progress, names)
                    except EngineOutage:
                        if time.monotonic() - began > self._work.patience_seconds:
                            raise

    async def _edit_once(
        self, stretch: BatchStretch, progress: StretchProgress, names: BookNames | None
    ) -> dict[str, str] | None:
        progress.quarantined.clear()
        async with self._pool.engine() as engine:
            checked = SameModelEngine(engine, stretch.recipe)
            record = StretchFile(self._folder, stretch, progress, checked, self._work.max_failures, self._on_progress)
            editor = StretchEditor(stretch.recipe, checked, names, self._work.max_failures)
            rows = await editor.edit(progress.rows(stretch), stretch.before, record)
        if any(row.state is ParagraphState.QUARANTINED for row in rows):
            await asyncio.to_thread(quarantine, self._folder, stretch.id, progress)
            return None
        found = [progress.results[one.id] for one in stretch.paragraphs if not one.skip]
        return {"id": stretch.id, "book": stretch.book, "results": results_to_json(found)}

    def _read_ledger(self, key: str) -> BookNames | None:
        text = self._folder.read_json(f"names/{key}.json")
        if text is None:
            raise StoreError(f"{self._folder.place} has lost the names of a book. Plan the batch again.")
        return BookNames.from_json(text)

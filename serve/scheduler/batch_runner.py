"""Run batches of passages: check the file, answer line by line, write the output files; resume after a restart.

Each answer is stored in one transaction, so a killed service repeats only the requests that were in progress.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from ape.errors import ApeError, EngineError, EngineRefused
from ape.jobs.batch import Batch, BatchAnswer, BatchFile, BatchState
from ape.jobs.batch_store import LEASE_SECONDS, BatchStore
from ape.jobs.leases import JobWorker
from ape.settings import Settings
from serve.middleware.file_quota import FileQuota
from serve.middleware.problems import problem_from_error
from serve.scheduler.batch_lines import BatchLine, check_lines, parse_line, read_lines, write_answers
from serve.scheduler.concurrency import FairConcurrencyLimit
from serve.scheduler.passage_handler import PassageHandler, parse_question
from serve.schemas.passages import PostEditResponse

log = logging.getLogger("ape.serve")
POLL_SECONDS = 5.0
# Pauses before a request is sent again after the model server failed.
RETRY_SECONDS = (2.0, 10.0, 30.0)
OUTPUT_PURPOSE = "batch_output"
_WORKING = {BatchState.IN_PROGRESS, BatchState.FINALIZING}


class BatchRunner:
    """Works on the batches whose input files lie in `folder`, within the concurrency limit of books."""

    def __init__(
        self, store: BatchStore, handler: PassageHandler, settings: Settings, limit: FairConcurrencyLimit, folder: Path
    ) -> None:
        self.store = store
        self.folder = folder
        self.quota = FileQuota(store, settings.max_stored_bytes)
        # Held from counting the batches of an owner to adding one.
        self.adding = asyncio.Lock()
        self._handler = handler
        self._limit = limit
        self._max_line_bytes = settings.max_body_bytes
        self._worker = JobWorker.here()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._cancelled: set[str] = set()
        self._wake_event = asyncio.Event()

    def path(self, file: str) -> Path:
        """Where the content of a file is."""
        return self.folder / file

    def wake(self, *, cancelled: str | None = None) -> None:
        """Look for batches now; drop the requests in progress of a cancelled one."""
        if cancelled:
            self._cancelled.add(cancelled)
        self._wake_event.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run batches for the length of the block; at its end they are left so that they can be resumed."""
        await asyncio.to_thread(self.folder.mkdir, parents=True, exist_ok=True, mode=0o700)
        loop = asyncio.create_task(self._schedule_loop())
        try:
            yield
        finally:
            tasks = [loop, *self._tasks.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(ApeError):
                await asyncio.to_thread(self.store.release, self._worker)

    async def _schedule_loop(self) -> None:
        while True:
            self._wake_event.clear()
            try:
                for batch in await asyncio.to_thread(self._find_batches):
                    self._start(batch.id)
            except ApeError as error:
                log.warning("batches can't be read: %s", error)
            except Exception as error:  # the loop must survive any error
                log.error("unexpected %s in the batch scheduler", type(error).__name__, exc_info=error)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(POLL_SECONDS, LEASE_SECONDS / 4)):
                    await self._wake_event.wait()

    def _start(self, id: str) -> None:
        self._tasks[id] = task = asyncio.create_task(self._run(id))
        task.add_done_callback(lambda _: self._tasks.pop(id))

    def _find_batches(self) -> list[Batch]:
        """Claim batches that nobody works on, renew the claims of ours, and notice cancellation."""
        found = []
        for batch in self.store.unfinished():
            if not self.path(batch.input_file).is_file() or not self.store.claim(batch.id, self._worker):
                continue
            if batch.state is BatchState.CANCELLING:
                self._cancelled.add(batch.id)
            if batch.id not in self._tasks:
                found.append(batch)
        return found

    async def _run(self, id: str) -> None:
        try:
            batch = await asyncio.to_thread(self.store.batch, id)
            if batch.state is BatchState.VALIDATING:
                batch = await asyncio.to_thread(self._validate, batch)
            if batch.state is BatchState.IN_PROGRESS:
                await self._answer_lines(batch)
            await asyncio.to_thread(self._finish, id)
        except ApeError as error:
            log.warning("batch %s stops and is tried again: %s", id, error)
        except Exception as error:
            log.error("unexpected %s in batch %s", type(error).__name__, id, exc_info=error)

    def _validate(self, batch: Batch) -> Batch:
        checked = check_lines(self.path(batch.input_file), max_line_bytes=self._max_line_bytes)
        state = BatchState.FAILED if checked.errors else BatchState.IN_PROGRESS
        changes = {"total": checked.count, "errors": [asdict(error) for error in checked.errors]}
        moved = self.store.move(batch.id, state, allowed={BatchState.VALIDATING}, **changes)
        return moved or self.store.batch(batch.id)

    async def _answer_lines(self, batch: Batch) -> None:
        """Answer the lines that have no answer yet, as many at once as the limit admits."""
        done = await asyncio.to_thread(self.store.answered_lines, batch.id)
        pending: set[asyncio.Task[None]] = set()
        try:
            for number, line in read_lines(self.path(batch.input_file)):
                if number in done:
                    continue
                while len(pending) >= self._limit.limit and batch.id not in self._cancelled:
                    pending = await self._wait(pending)
                if batch.id in self._cancelled:
                    break
                pending.add(asyncio.create_task(self._answer(batch, number, parse_line(line))))
            while pending and batch.id not in self._cancelled:
                pending = await self._wait(pending)
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _wait(self, pending: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Wait for a request to end, or for cancellation to be looked for again; raise its error."""
        ended, left = await asyncio.wait(pending, timeout=1.0, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
        return left

    async def _answer(self, batch: Batch, number: int, line: BatchLine) -> None:
        question = parse_question(line.body)
        async with self._limit.acquire(batch.owner, 1):
            outcome = await self._handler.handle(question)
            for pause in RETRY_SECONDS:
                if not isinstance(outcome, EngineError) or isinstance(outcome, EngineRefused):
                    break
                await asyncio.sleep(pause)
                outcome = await self._handler.handle(question)
        if isinstance(outcome, Exception):
            problem = problem_from_error(outcome, mt=getattr(question, "mt", None))
            answer = BatchAnswer(number, line.custom_id, problem.status, json.dumps(problem.to_json()))
        else:
            answer = BatchAnswer(number, line.custom_id, 200, PostEditResponse.of(outcome).model_dump_json())
        if not await asyncio.to_thread(self.store.save, batch.id, answer, self._worker):
            raise ApeError("another process works on it")

    def _finish(self, id: str) -> None:
        """Write the output files and end the batch; what a kill interrupts here is done again."""
        batch = self.store.move(id, BatchState.FINALIZING, allowed=_WORKING) or self.store.batch(id)
        if batch.state not in (BatchState.FINALIZING, BatchState.CANCELLING):
            return
        names = [f"file-{id.removeprefix('batch_')}-{kind}" for kind in ("output", "errors")]
        sizes = write_answers(id, self.store.answers(id), *map(self.path, names))
        files = []
        for name, size in zip(names, sizes, strict=True):
            files.append(name if size else "")
            if size:
                self.store.add_file(BatchFile(name, batch.owner, f"{name}.jsonl", OUTPUT_PURPOSE, size, time.time()))
            else:
                self.path(name).unlink(missing_ok=True)
        outcome = {"output_file": files[0], "error_file": files[1]}
        self.store.move(id, BatchState.CANCELLED, allowed={BatchState.CANCELLING}, **outcome)
        self.store.move(id, BatchState.COMPLETED, allowed={BatchState.FINALIZING}, **outcome)
        self._cancelled.discard(id)

"""Work on a job: claim stretches from the store, post-edit their paragraphs in order, save each result at once.

Several tasks of one process, and several processes, may work on one job. They share only the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event
from typing import ParamSpec, TypeVar

from ape.engines.protocol import Engine
from ape.errors import EngineError, InputError, StoreError
from ape.jobs.book_names import BookNames
from ape.jobs.job import Job, JobState
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.model_check import SameModelEngine
from ape.jobs.reconnection import call_when_reachable
from ape.jobs.store import JobStore, JobWorker, Stretch
from ape.jobs.stretch_editor import EngineOutage, StretchEditor, StretchLost, check_server
from ape.passage.result import PostEdit

T = TypeVar("T")
P = ParamSpec("P")

# How often to check whether the job was paused, and whether other workers have left something to do.
POLL_SECONDS = 1.0
RELEASE_SECONDS = 5.0
# A failing server is not a bad paragraph: after this many failures in a row the job stops, and those paragraphs
# wait again.
MIN_CONSECUTIVE_FAILURES = 5


@dataclass(frozen=True, slots=True)
class JobStep:
    """A paragraph was finished, or quarantined with the reason as `failure`."""

    paragraph: JobParagraph
    failure: str = ""


JobListener = Callable[[JobStep], None]


async def work_on_job(
    store: JobStore,
    job: Job,
    engine: Engine,
    *,
    concurrency: int,
    max_failures: int = 3,
    listen: JobListener = lambda _: None,
) -> JobState:
    """Post-edit the waiting paragraphs until none is left or the job is stopped, and return its state.

    The state is done, paused or cancelled. A paragraph is quarantined after `max_failures`. Cancelling this call drops
    the requests under way; finished paragraphs are in the store. Raises EngineOutage where the server fails.
    """
    worker = JobWorker.here()
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
    checked = SameModelEngine(engine, job.recipe)
    workers = _JobWorkers(store, job, checked, worker, concurrency, max_failures, listen, thread)
    try:
        return await workers.run()
    finally:
        workers.stopped.set()
        gone = thread.submit(store.release, worker)
        # Not awaited without limit: a locked database would block the event loop.
        thread.shutdown(wait=False)
        with suppress(TimeoutError, StoreError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(gone)), RELEASE_SECONDS)


@dataclass(slots=True)
class _JobWorkers:
    """The concurrent tasks of one process on one job."""

    store: JobStore
    job: Job
    engine: SameModelEngine
    worker: JobWorker
    concurrency: int
    max_failures: int
    listen: JobListener
    thread: ThreadPoolExecutor
    stopped: Event = field(default_factory=Event)
    target_state: JobState = JobState.RUNNING
    quarantined: list[str] = field(default_factory=list)
    reported: set[str] = field(default_factory=set)
    names_json: str = field(init=False)
    names: BookNames | None = field(init=False)

    def __post_init__(self) -> None:
        self.names_json, self.names = self.job.names, BookNames.from_json(self.job.names)

    async def run(self) -> JobState:
        """Run all tasks until nothing waits. Another process may hold the rest, and may die with it."""
        poll = asyncio.create_task(self._poll())
        try:
            while self.target_state is JobState.RUNNING:
                await self._run_workers(poll)
                # A claim may have been made for a server that went away before it could say so.
                await self._in_thread(self.store.release, self.worker)
                if not (await self._in_thread(self.store.counts, self.job.id)).waiting:
                    break
                await asyncio.wait([poll], timeout=POLL_SECONDS)
            await self._check_server()
            return JobState.DONE if self.target_state is JobState.RUNNING else self.target_state
        except (EngineOutage, asyncio.CancelledError):
            # The work may have been cancelled because the server is gone.
            self.thread.submit(self._forget_failures)
            raise
        finally:
            poll.cancel()
            with suppress(asyncio.CancelledError):
                await poll

    async def _run_workers(self, poll: asyncio.Task[None]) -> None:
        tasks = [asyncio.create_task(self._run_worker()) for _ in range(self.concurrency)]
        try:
            pending: set[asyncio.Task[None]] = {poll, *tasks}
            while pending - {poll} and not poll.done():
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()  # the first error ends the work; `poll` ends when the job is stopped
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_worker(self) -> None:
        # Several at once begin with the heaviest, so that none is left with it at the end.
        in_order = self.concurrency == 1
        while stretch := await self._in_thread(self.store.claim, self.job.id, self.worker, in_order=in_order):
            with suppress(StretchLost):
                # Read after the claim: results of a stretch whose names change later are not saved.
                await self._in_thread(self._read_names)
                await self._edit_stretch(stretch)
            await self._in_thread(self.store.release, self.worker, stretch)

    async def _edit_stretch(self, stretch: Stretch) -> None:
        """Post-edit the paragraphs of a stretch in order, each with the preceding ones as context."""
        editor = StretchEditor(self.job.recipe, self.engine, self.names, self.max_failures, self.reported)
        await editor.edit(stretch.rows, stretch.before, _StoredStretch(self, stretch))

    def _read_names(self) -> None:
        """Read the names again if a person changed them while the job runs."""
        text = self.store.job(self.job.id).names
        if text != self.names_json:
            self.names_json, self.names = text, BookNames.from_json(text)

    async def save(self, stretch: Stretch, row: JobParagraph, result: PostEdit, seconds: float) -> JobParagraph:
        """Save the result in the store; raises StretchLost."""
        self.quarantined.clear()
        # A finished result is saved even when the task is cancelled.
        saved = await asyncio.shield(self._in_thread(self.store.save, stretch, row.planned.id, result, seconds=seconds))
        if not saved:
            raise StretchLost
        done = replace(row, state=ParagraphState.DONE, result=result, seconds=seconds)
        self.listen(JobStep(done))
        return done

    async def fail(self, stretch: Stretch, row: JobParagraph, error: EngineError | InputError) -> JobParagraph | None:
        """Count a failure in the store; None if the paragraph may be tried again."""
        state = await self._in_thread(self._fail, stretch, row, error)
        if state is ParagraphState.WAITING:
            return None
        quarantined = replace(row, state=state, reason=str(error))
        self.listen(JobStep(quarantined, str(error)))
        self._stop_on_outage(error)
        return quarantined

    def _fail(self, stretch: Stretch, row: JobParagraph, error: EngineError | InputError) -> ParagraphState:
        """Count the failure. Runs in the store's thread, so that cancelling the task does not interrupt it."""
        if isinstance(error, InputError):
            # Retrying does not help a paragraph that can't be sent at all.
            return self.store.fail(stretch, row.planned.id, str(error), max_failures=1)
        state = self.store.fail(stretch, row.planned.id, str(error), max_failures=self.max_failures)
        if state is ParagraphState.QUARANTINED:
            self.quarantined.append(row.planned.id)
        return state

    def _forget_failures(self) -> None:
        """Reset the paragraphs that were quarantined since the last success to waiting."""
        if self.quarantined:
            self.store.redo(self.job.id, paragraphs=tuple(self.quarantined))

    async def _check_server(self) -> None:
        """Raise EngineOutage where the last paragraphs failed because the server is gone.

        Asks for a draft: many servers still list their models when they no longer generate text.
        """
        if not self.quarantined:
            return
        await check_server(self.engine, self.job.recipe.model)

    def _stop_on_outage(self, error: Exception) -> None:
        if len(self.quarantined) < max(MIN_CONSECUTIVE_FAILURES, self.concurrency + 1):
            return
        raise EngineOutage(
            f"The model server failed on {len(self.quarantined)} paragraphs in a row. The last error: {error} "
            "All finished paragraphs are saved; these paragraphs wait again."
        )

    async def _poll(self) -> None:
        """Renew the leases, and notice when the job is paused or cancelled."""
        while self.target_state is JobState.RUNNING:
            await asyncio.sleep(POLL_SECONDS)
            await self._in_thread(self.store.renew, self.worker)
            state = (await self._in_thread(self.store.job, self.job.id)).state
            if state in (JobState.PAUSED, JobState.CANCELLED):
                self.target_state = state

    async def _in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the store in its thread, one call at a time."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self.thread, lambda: call_when_reachable(lambda: call(*args, **kwargs), stopped=self.stopped)
        )


@dataclass(frozen=True, slots=True)
class _StoredStretch:
    """Keeps the results of a claimed stretch in the job store."""

    workers: _JobWorkers
    stretch: Stretch

    async def save(self, row: JobParagraph, result: PostEdit, *, seconds: float) -> JobParagraph:
        return await self.workers.save(self.stretch, row, result, seconds)

    async def fail(self, row: JobParagraph, error: EngineError | InputError) -> JobParagraph | None:
        return await self.workers.fail(self.stretch, row, error)

"""Work on a job: claim stretches from the store, post-edit their paragraphs in order, save each result at once.

Several tasks of one process, and several processes, may work on one job. They share only the store.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ParamSpec, TypeVar

from ape.engines.protocol import Engine
from ape.errors import ApeError, EngineError, InputError, KeyRefused, StoreError
from ape.jobs.context import ContextWindow
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.model_check import SameModelEngine
from ape.jobs.store import JobStore, JobWorker, Stretch
from ape.passage.options import Options
from ape.passage.result import PostEdit
from ape.passage.segment import Context, Segment
from ape.post_editor import post_edit

log = logging.getLogger("ape.jobs")
T = TypeVar("T")
P = ParamSpec("P")

# How often to check whether the job was paused, and whether other workers have left something to do.
POLL_SECONDS = 1.0
RELEASE_SECONDS = 5.0
# A failing server is not a bad paragraph: after this many failures in a row the job stops, and those paragraphs
# wait again.
MIN_CONSECUTIVE_FAILURES = 5
# A passage that any model can post-edit, to check that the server answers.
PROBE_SEGMENT = Segment("…", "He came in and sat down.", source_language="und", target_language="en")


class EngineOutage(EngineError):
    """The model server fails on every request."""


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
    workers = _JobWorkers(store, job, engine, worker, concurrency, max_failures, listen, thread)
    try:
        return await workers.run()
    finally:
        gone = thread.submit(store.release, worker)
        # Not awaited without limit: a locked database would block the event loop.
        thread.shutdown(wait=False)
        with suppress(TimeoutError, StoreError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(gone)), RELEASE_SECONDS)


class _JobWorkers:
    """The concurrent tasks of one process on one job."""

    def __init__(
        self,
        store: JobStore,
        job: Job,
        engine: Engine,
        worker: JobWorker,
        concurrency: int,
        max_failures: int,
        listen: JobListener,
        thread: ThreadPoolExecutor,
    ) -> None:
        self.store = store
        self.job = job
        self.engine = SameModelEngine(engine, job.recipe)
        self.worker = worker
        self.concurrency = concurrency
        self.max_failures = max_failures
        self.listen = listen
        self.thread = thread
        self.options = job.recipe.options()
        self.wanted = JobState.RUNNING
        self.quarantined: list[str] = []

    async def run(self) -> JobState:
        """Run all tasks until nothing waits. Another process may hold the rest, and may die with it."""
        poll = asyncio.create_task(self._poll())
        try:
            while self.wanted is JobState.RUNNING:
                await self._run_workers(poll)
                if not (await self._in_thread(self.store.counts, self.job.id)).waiting:
                    break
                await asyncio.wait([poll], timeout=POLL_SECONDS)
            await self._check_server()
            return JobState.DONE if self.wanted is JobState.RUNNING else self.wanted
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
        while stretch := await self._in_thread(self.store.claim, self.job.id, self.worker):
            with suppress(_StretchLost):
                await self._edit_stretch(stretch)
            await self._in_thread(self.store.release, self.worker, stretch)

    async def _edit_stretch(self, stretch: Stretch) -> None:
        """Post-edit the paragraphs of a stretch in order, each with the preceding ones as context."""
        earlier = ContextWindow(self.job.recipe.context, stretch.before)
        for row in stretch.rows:
            if row.state is ParagraphState.WAITING:
                row = await self._post_edit(stretch, row, earlier.pairs)
            earlier.add(row)

    async def _post_edit(self, stretch: Stretch, row: JobParagraph, context: tuple[Context, ...]) -> JobParagraph:
        """Post-edit one paragraph; after too many failures it keeps the MT and the reason."""
        segment = paragraph_segment(row, self.job.recipe, context)
        for _ in range(self.max_failures):
            began = time.monotonic()
            try:
                result = await post_edit(segment, self.engine, options=self.options)
            except KeyRefused as error:
                raise EngineOutage(f"{error} All finished paragraphs are saved.") from error
            except ApeError as error:
                if not isinstance(error, EngineError | InputError):
                    raise
                state = await self._in_thread(self._fail, stretch, row, error)
                if state is ParagraphState.WAITING:
                    continue
                quarantined = replace(row, state=state, reason=str(error))
                self.listen(JobStep(quarantined, str(error)))
                self._stop_on_outage(error)
                return quarantined
            except Exception as error:
                log.exception("Paragraph %s of job %s", row.planned.id, self.job.id)
                bug = InputError(f"Internal error, please report it: {type(error).__name__}: {error}")
                state = await self._in_thread(self._fail, stretch, row, bug)
                quarantined = replace(row, state=state, reason=str(bug))
                self.listen(JobStep(quarantined, str(bug)))
                return quarantined
            return await self._save(stretch, row, result, time.monotonic() - began)
        raise _StretchLost

    async def _save(self, stretch: Stretch, row: JobParagraph, result: PostEdit, seconds: float) -> JobParagraph:
        self.quarantined.clear()
        # A finished result is saved even when the task is cancelled.
        saved = await asyncio.shield(self._in_thread(self.store.save, stretch, row.planned.id, result, seconds=seconds))
        if not saved:
            raise _StretchLost
        done = replace(row, state=ParagraphState.DONE, result=result, seconds=seconds)
        self.listen(JobStep(done))
        return done

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
        """Let the paragraphs wait again that were quarantined since the last success."""
        if self.quarantined:
            self.store.redo(self.job.id, paragraphs=tuple(self.quarantined))

    async def _check_server(self) -> None:
        """Raise EngineOutage where the last paragraphs failed because the server is gone.

        Asks for a draft: many servers still list their models when they no longer generate text.
        """
        if not self.quarantined:
            return
        try:
            await post_edit(PROBE_SEGMENT, self.engine, options=Options(model=self.options.model, max_attempts=1))
        except EngineError as error:
            raise EngineOutage(
                f"The model server no longer answers: {error} All finished paragraphs are saved."
            ) from error

    def _stop_on_outage(self, error: Exception) -> None:
        if len(self.quarantined) < max(MIN_CONSECUTIVE_FAILURES, self.concurrency + 1):
            return
        raise EngineOutage(
            f"The model server failed on {len(self.quarantined)} paragraphs in a row. The last error: {error} "
            "All finished paragraphs are saved; these paragraphs wait again."
        )

    async def _poll(self) -> None:
        """Renew the leases, and notice when the job is paused or cancelled."""
        while self.wanted is JobState.RUNNING:
            await asyncio.sleep(POLL_SECONDS)
            await self._in_thread(self.store.renew, self.worker)
            state = (await self._in_thread(self.store.job, self.job.id)).state
            if state in (JobState.PAUSED, JobState.CANCELLED):
                self.wanted = state

    async def _in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the store in its thread, one call at a time."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.thread, lambda: call(*args, **kwargs))


class _StretchLost(Exception):
    """Another worker has taken over the stretch."""


def paragraph_segment(row: JobParagraph, recipe: JobRecipe, context: tuple[Context, ...] = ()) -> Segment:
    """The paragraph as a passage for the model."""
    return Segment(
        source=row.planned.source,
        mt=row.planned.mt,
        source_language=recipe.source_language,
        target_language=recipe.target_language,
        context=context,
        glossary=recipe.glossary,
        instructions=recipe.instructions,
    )

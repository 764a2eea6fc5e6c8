"""Schedule book jobs, fairly between owners; resume them after a restart.

A job whose model server fails stays `running` with the reason as its note, and is retried after growing pauses: the
server may come back, even after a restart of this service. A job that can't continue as it began (its model is gone or
has changed, its files are damaged) becomes `failed` until it is resumed.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from ape.cancellation import finish_despite_cancellation
from ape.engines import Engine
from ape.errors import ApeError, Conflict, EngineError, StoreError, UnknownJob
from ape.jobs.book_names import BookNames
from ape.jobs.job import Job, JobState
from ape.jobs.names_update import change_names
from ape.jobs.output import write_output
from ape.jobs.pace import JobPace
from ape.jobs.run import mark_done
from ape.jobs.store import JobStore
from ape.jobs.worker import JobStep, work_on_job
from ape.settings import Settings
from serve.middleware.admission import StreamLimit
from serve.middleware.book_quota import BookQuota
from serve.middleware.metrics import ServiceMetrics
from serve.middleware.problems import public_message
from serve.middleware.review_quota import ReviewQuota
from serve.scheduler.book_planner import BookPlanner
from serve.scheduler.book_search import BookSearch
from serve.scheduler.concurrency import BookEngine, FairConcurrencyLimit, book_concurrency
from serve.scheduler.job_discovery import JobDiscovery
from serve.scheduler.job_queue import JobQueue, choose_preempted
from serve.scheduler.names_reader import NamesReader
from serve.scheduler.progress import JobProgressFeed
from serve.scheduler.upload_folder import PARTIAL_SUFFIX, prepare_upload_folder
from serve.scheduler.worker_threads import WorkerThreads

log = logging.getLogger("ape.serve")
T = TypeVar("T")

JOB_ID = re.compile("[0-9a-f]{32}")
# Each running job has a thread and polls the store every second.
MAX_RUNNING_JOBS = 8
# How long a job runs before it gives way to a waiting one; its paragraphs in progress are finished first.
TURN_SECONDS = 120.0
# Other processes may start, pause and resume jobs in the same store.
POLL_SECONDS = 5.0
# How long shutdown waits for cancelled uploads to remove their files.
UPLOAD_CLEANUP_SECONDS = 10.0


@dataclass(slots=True, eq=False)
class _RunningJob:
    job: Job
    engine: BookEngine
    task: asyncio.Task[None]
    began: float = field(default_factory=time.monotonic)
    pace: JobPace = field(default_factory=JobPace)
    has_succeeded: bool = False
    is_preempted: bool = False


class JobScheduler:
    """Run the jobs whose output belongs in the folder of this service and whose files are there."""

    def __init__(
        self, store: JobStore, engine: Engine, settings: Settings, metrics: ServiceMetrics | None = None
    ) -> None:
        self.store = store
        self.folder = settings.uploads_folder.absolute()
        self.progress = JobProgressFeed(store, self.pace_of)
        self.streams = StreamLimit()
        self.planner = BookPlanner(store.url, settings)
        self.search = BookSearch(store.url)
        self.names = NamesReader(store.url, settings)
        self.review_quota = ReviewQuota(store, settings.max_stored_bytes)
        self.quota = BookQuota(store, self.folder, settings, owns=self.owns)
        self._engine = engine
        self._metrics = metrics
        self.concurrency_limit = FairConcurrencyLimit(book_concurrency(settings))
        self._drain_seconds = settings.drain_seconds
        self.threads = WorkerThreads()
        self._running: dict[str, _RunningJob] = {}
        self._queue = JobQueue()
        self._uploads: dict[str, asyncio.Task[object] | None] = {}
        self._discovery = JobDiscovery(store, self.folder, uploading=self._uploads)
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._wake_event = asyncio.Event()
        # Each is held from reading the state of its job to changing it.
        self._state_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._stopping_since: float | None = None

    # Called by the routes.

    async def job(self, id: str, owner: str) -> Job:
        """Return the owner's job with this id, or raise UnknownJob."""
        # The database may fail on a string that can't be one of its ids.
        job = await asyncio.to_thread(self.store.job, id, owner=owner) if JOB_ID.fullmatch(id) else None
        if job is None or not self.owns(job):
            raise UnknownJob(f"There is no job {id!r}.")
        return job

    def owns(self, job: Job) -> bool:
        """Whether the job belongs to this service: the command line keeps its jobs in the same store."""
        return self._discovery.owns(job)

    @property
    def states(self) -> Counter[str]:
        """The number of jobs in each state at the last poll."""
        return self._discovery.states

    def pace_of(self, id: str) -> JobPace | None:
        """Return the pace of a job that runs here, else None."""
        running = self._running.get(id)
        return running.pace if running else None

    @asynccontextmanager
    async def receiving_upload(self, id: str) -> AsyncIterator[None]:
        """Keep the job from running for the length of the block, and remove it if the block fails."""
        self._uploads[id] = asyncio.current_task()
        try:
            yield
        except BaseException:
            # Not in our own threads, which may be closed by now.
            try:
                await finish_despite_cancellation(asyncio.to_thread(self.forget, id))
            except ApeError as error:
                log.warning("upload %s can't be removed: %s", id, error)
            raise
        finally:
            del self._uploads[id]

    @property
    def is_stopping(self) -> bool:
        """Whether the service is shutting down."""
        return self._stopping_since is not None

    def wake(self) -> None:
        """Look for jobs now."""
        self._wake_event.set()

    async def pause(self, job: Job) -> Job:
        """Stop the job; its paragraphs in progress are dropped."""
        return await self._set_state(job, JobState.PAUSED, {JobState.RUNNING})

    async def cancel(self, job: Job) -> Job:
        """Stop the job for good; its finished paragraphs are kept."""
        changed = await self._set_state(job, JobState.CANCELLED, {JobState.RUNNING, JobState.PAUSED, JobState.FAILED})
        if running := self._running.get(job.id):
            running.task.cancel()
        return changed

    async def resume(self, job: Job) -> Job:
        """Continue a paused or failed job, or retry now one that is backing off."""
        self._queue.clear_backoff(job.id)
        self._discovery.recheck(job.id)
        return await self._set_state(job, JobState.RUNNING, {JobState.PAUSED, JobState.FAILED})

    async def redo(self, job: Job, *, paragraphs: tuple[str, ...], rejected: bool, quarantined: bool) -> Job:
        """Reset paragraphs to be edited again. A finished job continues; a paused one stays paused."""

        def reset() -> Job:
            state = self.store.job(job.id).state
            if state is JobState.CANCELLED:
                raise Conflict("The job is cancelled.")
            count = self.store.redo(job.id, paragraphs=paragraphs, rejected=rejected, quarantined=quarantined)
            if not count or state is JobState.PAUSED:
                return self.store.job(job.id)
            return self.store.update(job.id, state=JobState.RUNNING, note="")

        self._queue.clear_backoff(job.id)
        changed = await self._with_state_lock(job.id, reset)
        self._notify(job.id)
        return changed

    async def change_names(self, job: Job, names: BookNames) -> Job:
        """Give the job other names. A finished job is written again; no paragraph with a result needs the model."""

        def change() -> Job:
            known = self.store.job(job.id)
            if known.state is JobState.CANCELLED:
                raise Conflict("The job is cancelled.")
            change_names(self.store, known, names)
            state = JobState.RUNNING if known.state is JobState.DONE else known.state
            return self.store.update(job.id, state=state)

        async with self._state_lock(job.id):
            changed = await self.threads.run(job.owner, change)  # looking up names in a long book takes long
        self._notify(job.id)
        return changed

    async def remove(self, job: Job) -> None:
        """Cancel the job and delete it with its files."""
        await self._with_state_lock(job.id, lambda: self.store.update(job.id, state=JobState.CANCELLED))
        if running := self._running.get(job.id):
            running.task.cancel()
            await asyncio.wait([running.task])
        await finish_despite_cancellation(asyncio.to_thread(self.forget, job.id))
        self._notify(job.id)

    def forget(self, id: str) -> None:
        """Delete the rows and files of a job. Called in a thread."""
        for folder in (self.folder / id, self.folder / f"{id}{PARTIAL_SUFFIX}"):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(UnknownJob):
            self.store.remove(id)

    async def _set_state(self, job: Job, target: JobState, allowed: set[JobState]) -> Job:
        def change() -> Job:
            state = self.store.job(job.id).state
            if state is JobState.DONE and target is JobState.RUNNING:
                raise Conflict("The job is done: there is nothing to resume.")
            if state is not target and state not in allowed:
                raise Conflict(f"The job is {state} and can't be {target}.")
            return self.store.update(job.id, state=target, note="")

        changed = await self._with_state_lock(job.id, change)
        self._notify(job.id)
        return changed

    def _state_lock(self, id: str) -> asyncio.Lock:
        return self._state_locks.setdefault(id, asyncio.Lock())

    async def _with_state_lock(self, id: str, change: Callable[[], T]) -> T:
        async with self._state_lock(id):
            return await finish_despite_cancellation(asyncio.to_thread(change))

    def _notify(self, id: str) -> None:
        self._wake_event.set()
        self.progress.notify(id)

    # The scheduling loop.

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run jobs for the length of the block; at its end they are left so that they can be resumed."""
        await asyncio.to_thread(prepare_upload_folder, self.folder)
        loop = asyncio.create_task(self._schedule_loop())
        try:
            yield
        finally:
            self.begin_shutdown()
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)
            await self._stop_jobs()
            await self.threads.close()
            if uploads := [task for task in self._uploads.values() if task]:
                await asyncio.wait(uploads, timeout=UPLOAD_CLEANUP_SECONDS)

    def begin_shutdown(self) -> None:
        """Start nothing new, end all event streams, and give up books that are being read."""
        if self._stopping_since is None:
            self._stopping_since = time.monotonic()
        self.progress.close()
        self.planner.close()
        self.search.close()
        self.names.close()
        for running in self._running.values():
            running.engine.close()

    async def _stop_jobs(self) -> None:
        """Let paragraphs in progress finish while the drain time lasts, then cancel them."""
        jobs = list(self._running.values())
        left = self._drain_seconds - (time.monotonic() - (self._stopping_since or 0.0))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, left)):
                await asyncio.gather(*(running.engine.wait_until_idle() for running in jobs))
        for running in jobs:
            running.task.cancel()
        await asyncio.gather(*(running.task for running in jobs), return_exceptions=True)

    async def _schedule_loop(self) -> None:
        while not self.is_stopping:
            self._wake_event.clear()
            succeeded = {job: running.has_succeeded for job, running in self._running.items()}
            try:
                self._start_jobs(await asyncio.to_thread(self._discovery.find_jobs, succeeded))
            except ApeError as error:
                log.warning("jobs can't be read: %s", error)
            except Exception as error:  # the loop must survive any error
                log.error("unexpected %s in the job scheduler", type(error).__name__, exc_info=error)
            with suppress(TimeoutError):
                async with asyncio.timeout(min([POLL_SECONDS, *self._queue.seconds_left()])):
                    await self._wake_event.wait()

    def _start_jobs(self, jobs: list[Job]) -> None:
        now = time.monotonic()  # before any starts, so that none of those is preempted
        self._queue.keep_only({job.id for job in jobs})
        waiting = [job for job in jobs if job.id not in self._running and not self._queue.is_backing_off(job.id)]
        while waiting and len(self._running) < MAX_RUNNING_JOBS and not self.is_stopping:
            job = self._queue.next_job(waiting, (running.job for running in self._running.values()))
            waiting.remove(job)
            self._start(job)
        if waiting:
            self._preempt_for(waiting, now)

    def _preempt_for(self, waiting: list[Job], now: float) -> None:
        """Stop jobs in favour of waiting ones, after their paragraphs in progress."""
        for running in choose_preempted(self._running.values(), waiting, now=now, turn_seconds=TURN_SECONDS):
            running.is_preempted = True
            running.engine.close()
            task = asyncio.create_task(self._preempt(running))
            self._background_tasks.add(task)
            task.add_done_callback(self._background_tasks.discard)

    async def _preempt(self, running: _RunningJob) -> None:
        await running.engine.wait_until_idle()
        running.task.cancel()

    def _start(self, job: Job) -> None:
        self._queue.record_turn(job)
        engine = BookEngine(self._engine, self.concurrency_limit, job)
        running = _RunningJob(job, engine, asyncio.create_task(self._run(job, engine)))
        self._running[job.id] = running
        running.task.add_done_callback(lambda _: self._ended(job))

    def _ended(self, job: Job) -> None:
        del self._running[job.id]
        self._notify(job.id)

    # One job.

    async def _run(self, job: Job, engine: BookEngine) -> None:
        try:
            state = await work_on_job(
                self.store,
                job,
                engine,
                concurrency=engine.concurrency,
                listen=lambda step: self._record_step(job.id, step),
            )
            if state is JobState.DONE:
                await self._finish(job)
        except UnknownJob:
            pass  # it was removed
        except (EngineError, StoreError) as error:
            await self._back_off(job, error)
        except ApeError as error:
            await self._fail(job, public_message(error))
        except Exception as error:
            log.error("unexpected %s in job %s", type(error).__name__, job.id, exc_info=error)
            await self._fail(job, "An unexpected error occurred; see the service log.")

    def _record_step(self, id: str, step: JobStep) -> None:
        if running := self._running.get(id):
            running.pace.record(step.paragraph)
            if step.paragraph.result:
                running.has_succeeded = True
                self._queue.clear_backoff(id)
        if self._metrics:
            self._metrics.record_paragraph(step.paragraph.result)
        self.progress.record_paragraph(step.paragraph, id)

    async def _finish(self, job: Job) -> None:
        """Write the book and mark the job done, unless paragraphs were reset meanwhile."""
        written = await self.threads.run(job.owner, write_output, self.store, job, Path(job.output), record=True)
        await self._with_state_lock(job.id, lambda: mark_done(self.store, job.id, written))

    async def _back_off(self, job: Job, error: ApeError) -> None:
        seconds = self._queue.back_off(job.id)
        note = f"{public_message(error)} The next attempt is in {seconds:.0f} seconds."
        with suppress(ApeError):
            await asyncio.to_thread(self._note, job.id, JobState.RUNNING, note)

    async def _fail(self, job: Job, note: str) -> None:
        try:
            await self._with_state_lock(job.id, lambda: self._note(job.id, JobState.FAILED, note))
        except UnknownJob:
            pass
        except ApeError as error:
            await self._back_off(job, error)

    def _note(self, id: str, state: JobState, note: str) -> None:
        if self.store.job(id).state is JobState.RUNNING:
            self.store.update(id, state=state, note=note)

"""Who has the jobs of the service worked on: some at a time, by turns between owners, on and on after a restart.

A job that the model server fails stays `running`, with the reason as its note, and is tried again in growing pauses: it
is still wanted, and the server may come back, also after a restart of ours. One that can't go on as it was begun (its
model is gone or has changed, its files are damaged) is `failed`, until somebody resumes it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

from ape.engines import Engine
from ape.errors import ApeError, Conflict, EngineError, StoreError, UnknownJob
from ape.jobs.job import Job, JobState
from ape.jobs.output import JobOutput, write_output
from ape.jobs.store import JobStore
from ape.jobs.worker import JobStep, work_on_job
from ape.settings import Settings
from serve.middleware.error_text import redact_locations
from serve.middleware.metrics import ServiceMetrics
from serve.scheduler.cancellation import finish_despite_cancellation
from serve.scheduler.concurrency import BookEngine, FairConcurrencyLimit, book_concurrency
from serve.scheduler.job_discovery import JobDiscovery
from serve.scheduler.job_queue import JobQueue
from serve.scheduler.progress import JobPace, JobProgressFeed
from serve.scheduler.upload_folder import PARTIAL_PREFIX, prepare_upload_folder

log = logging.getLogger("ape.serve")
T = TypeVar("T")
P = ParamSpec("P")

JOB_ID = re.compile("[0-9a-f]{32}")
# Jobs worked on at once. Each has a thread, and looks at the store every second.
MAX_RUNNING_JOBS = 8
# After so long a job gives way to one that waits; the paragraphs in hand are finished first.
TURN_SECONDS = 120.0
# Others may begin, pause and resume jobs in the same store.
POLL_SECONDS = 5.0
# Threads for what takes long: pairing a book, writing it, making a report.
WORKER_THREADS = 2
# When the service stops: for those who were sending a book to clear it away.
UPLOAD_CLEANUP_SECONDS = 10.0


@dataclass(slots=True, eq=False)
class _RunningJob:
    """A job at work."""

    job: Job
    engine: BookEngine
    task: asyncio.Task[None]
    began: float = field(default_factory=time.monotonic)
    pace: JobPace = field(default_factory=JobPace)
    works: bool = False
    leaving: bool = False


class JobScheduler:
    """Has the jobs of this service done: those whose output is to be in its folder, and whose files are there."""

    def __init__(
        self, store: JobStore, engine: Engine, settings: Settings, metrics: ServiceMetrics | None = None
    ) -> None:
        self.store = store
        self.folder = settings.uploads_folder.absolute()
        self.board = JobProgressFeed(store, self.pace_of)
        self._engine = engine
        self._metrics = metrics
        self._places = FairConcurrencyLimit(book_concurrency(settings))
        self._drain_seconds = settings.drain_seconds
        self._store_url = settings.jobs_url
        self._threads = ThreadPoolExecutor(WORKER_THREADS, thread_name_prefix="books")
        self._at_work: dict[str, _RunningJob] = {}
        self._line = JobQueue()
        self._arriving: dict[str, asyncio.Task[object] | None] = {}
        self._lookout = JobDiscovery(store, self.folder, arriving=self._arriving)
        self._errands: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        # Between a look at a job's state and a change of it nobody else changes it.
        self._states = asyncio.Lock()
        self._left: float | None = None

    # What the routes ask of it.

    async def job(self, id: str, owner: str) -> Job:
        """The owner's job of that id, or UnknownJob."""
        # What can't be one of our ids is not shown to the database, which may choke on it.
        job = await asyncio.to_thread(self.store.job, id, owner=owner) if JOB_ID.fullmatch(id) else None
        if job is None or not self.is_ours(job):
            raise UnknownJob(f"There is no job {id!r}.")
        return job

    def is_ours(self, job: Job) -> bool:
        """Whether it came to this service: the command line keeps its jobs in the same store."""
        return self._lookout.is_ours(job)

    @property
    def states(self) -> Counter[str]:
        """How many jobs there were in each state at the last look."""
        return self._lookout.states

    def pace_of(self, id: str) -> JobPace | None:
        """How fast the job is, while it is worked on here."""
        hand = self._at_work.get(id)
        return hand.pace if hand else None

    async def aside(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what takes long in a thread; to its end, also where nobody waits for it any more."""
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, lambda: call(*args, **kwargs))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            with suppress(Exception):
                await work
            raise

    @asynccontextmanager
    async def arriving(self, id: str) -> AsyncIterator[None]:
        """A book on its way in, for the length of the block: not worked on before, and gone where that fails."""
        self._arriving[id] = asyncio.current_task()
        try:
            yield
        except BaseException:
            # Not in our own threads, which may be closed by now.
            try:
                await finish_despite_cancellation(asyncio.to_thread(self.forget, id))
            except ApeError as error:
                log.warning("the upload %s can't be cleared away: %s", id, error)
            raise
        finally:
            del self._arriving[id]

    @property
    def is_leaving(self) -> bool:
        """Whether the service is about to stop."""
        return self._left is not None

    def wake(self) -> None:
        """There is a new job."""
        self._news.set()

    async def pause(self, job: Job) -> Job:
        """Stop the work; the paragraphs in hand are dropped."""
        return await self._change(job, JobState.PAUSED, {JobState.RUNNING})

    async def resume(self, job: Job) -> Job:
        """Go on with a job that is paused or failed, or at once with one that rests."""
        self._line.wake(job.id)
        self._lookout.look_again(job.id)
        return await self._change(job, JobState.RUNNING, {JobState.PAUSED, JobState.FAILED})

    async def redo(self, job: Job, *, paragraphs: tuple[str, ...], rejected: bool, quarantined: bool) -> Job:
        """Let these be done again; a job that is over goes on then, a paused one stays so."""

        def change() -> Job:
            state = self.store.job(job.id).state
            if state is JobState.CANCELLED:
                raise Conflict("The job is cancelled.")
            count = self.store.redo(job.id, paragraphs=paragraphs, rejected=rejected, quarantined=quarantined)
            if not count or state is JobState.PAUSED:
                return self.store.job(job.id)
            return self.store.update(job.id, state=JobState.RUNNING, note="")

        self._line.wake(job.id)
        async with self._states:
            changed = await finish_despite_cancellation(asyncio.to_thread(change))
        self._tell(job.id)
        return changed

    async def remove(self, job: Job) -> None:
        """Cancel the job, drop what is in hand, and forget it with its files."""
        async with self._states:
            await finish_despite_cancellation(
                asyncio.to_thread(self.store.update, job.id, state=JobState.CANCELLED)
            )
        if hand := self._at_work.get(job.id):
            hand.task.cancel()
            await asyncio.wait([hand.task])
        await finish_despite_cancellation(asyncio.to_thread(self.forget, job.id))
        self._tell(job.id)

    def forget(self, id: str) -> None:
        """Remove what there is of a job: rows and files. In a thread."""
        for folder in (self.folder / id, self.folder / f"{id}{PARTIAL_PREFIX}"):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(UnknownJob):
            self.store.remove(id)

    async def _change(self, job: Job, wanted: JobState, allowed: set[JobState]) -> Job:
        def change() -> Job:
            state = self.store.job(job.id).state
            if state is JobState.DONE and wanted is JobState.RUNNING:
                raise Conflict("The job is done: there is nothing to resume.")
            if state is not wanted and state not in allowed:
                raise Conflict(f"The job is {state}, and so can't be {wanted}.")
            return self.store.update(job.id, state=wanted, note="")

        async with self._states:
            changed = await finish_despite_cancellation(asyncio.to_thread(change))
        self._tell(job.id)
        return changed

    def _tell(self, id: str) -> None:
        self._news.set()
        self.board.poke(id)

    # Its own day.

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Work on jobs for the length of the block, and at its end leave all of them as they can be taken up again."""
        await asyncio.to_thread(prepare_upload_folder, self.folder)
        round_ = asyncio.create_task(self._go_round())
        try:
            yield
        finally:
            self.leave()
            round_.cancel()
            await asyncio.gather(round_, return_exceptions=True)
            await self._let_go()
            await asyncio.to_thread(self._threads.shutdown)
            if arriving := [task for task in self._arriving.values() if task]:
                await asyncio.wait(arriving, timeout=UPLOAD_CLEANUP_SECONDS)

    def leave(self) -> None:
        """Begin nothing new, and end all streams: the service is about to stop."""
        if self._left is None:
            self._left = time.monotonic()
        self.board.close()
        for hand in self._at_work.values():
            hand.engine.close()

    async def _let_go(self) -> None:
        """Let the paragraphs in hand end, as long as there is time; then drop them."""
        hands = list(self._at_work.values())
        left = self._drain_seconds - (time.monotonic() - (self._left or 0.0))
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, left)):
                await asyncio.gather(*(hand.engine.idle() for hand in hands))
        for hand in hands:
            hand.task.cancel()
        await asyncio.gather(*(hand.task for hand in hands), return_exceptions=True)

    async def _go_round(self) -> None:
        while self._left is None:
            self._news.clear()
            at_work = {name: hand.works for name, hand in self._at_work.items()}
            try:
                self._begin_some(await asyncio.to_thread(self._lookout.look, at_work))
            except ApeError as error:
                log.warning("the jobs can't be looked at: %s", error)
            except Exception as error:  # whatever it is, it must not be the last round
                log.error("unexpected %s on the round of the jobs", type(error).__name__, exc_info=error)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until_next()):
                    await self._news.wait()

    def _begin_some(self, jobs: list[Job]) -> None:
        now = time.monotonic()  # before any begins: those that do have their turn
        ids = {job.id for job in jobs}
        self._line.forget_all_but(ids)
        waiting = [job for job in jobs if job.id not in self._at_work and not self._line.rests(job.id)]
        while waiting and len(self._at_work) < MAX_RUNNING_JOBS and self._left is None:
            job = self._line.first(waiting, (hand.job for hand in self._at_work.values()))
            waiting.remove(job)
            self._begin(job)
        if waiting:
            self._make_room(len(waiting), now)

    def _make_room(self, count: int, now: float) -> None:
        """Let those whose turn has lasted long enough go to the end of the line."""
        hands = [hand for hand in self._at_work.values() if not hand.leaving]
        for hand in sorted(hands, key=lambda hand: hand.began)[:count]:
            if now - hand.began >= TURN_SECONDS:
                hand.leaving = True
                hand.engine.close()
                errand = asyncio.create_task(self._send_away(hand))
                self._errands.add(errand)
                errand.add_done_callback(self._errands.discard)

    async def _send_away(self, hand: _RunningJob) -> None:
        await hand.engine.idle()
        hand.task.cancel()

    def _begin(self, job: Job) -> None:
        self._line.took_turn(job)
        engine = BookEngine(self._engine, self._places, job)
        hand = _RunningJob(job, engine, asyncio.create_task(self._work(job, engine)))
        self._at_work[job.id] = hand
        hand.task.add_done_callback(lambda _: self._ended(hand))

    def _ended(self, hand: _RunningJob) -> None:
        del self._at_work[hand.job.id]
        self._tell(hand.job.id)

    def _until_next(self) -> float:
        """Seconds until the next look: until the first of those that rest is to be tried again, at the most."""
        return min([POLL_SECONDS, *self._line.seconds_left()])

    # One job.

    async def _work(self, job: Job, engine: BookEngine) -> None:
        try:
            state = await work_on_job(
                self.store, job, engine, lanes=engine.lanes, watch=lambda step: self._step(job.id, step)
            )
            if state is JobState.DONE:
                await self._finish(job)
        except UnknownJob:
            pass  # somebody removed it
        except (EngineError, StoreError) as error:
            await self._rest(job, error)
        except ApeError as error:
            await self._fail(job, self.printable(error))
        except Exception as error:
            log.error("unexpected %s in the job %s", type(error).__name__, job.id, exc_info=error)
            await self._fail(job, "Something failed that should not; the log of the service says what.")

    def _step(self, id: str, step: JobStep) -> None:
        if hand := self._at_work.get(id):
            hand.pace.step(step.row)
            if step.row.result:
                hand.works = True
                self._line.wake(id)
        if self._metrics:
            self._metrics.paragraph(step.row.result)
        self.board.finished(step.row, id)

    async def _finish(self, job: Job) -> None:
        """Write the book, and say that it is done, unless something is to be done again meanwhile."""
        written = await self.aside(write_output, self.store, job, Path(job.output))

        def change() -> None:
            if self.store.job(job.id).state is JobState.RUNNING and not self.store.counts(job.id).waiting:
                self._mark_done(job, written)

        async with self._states:
            await finish_despite_cancellation(asyncio.to_thread(change))

    def _mark_done(self, job: Job, written: JobOutput) -> None:
        self.store.update(
            job.id, state=JobState.DONE, note="", output_hash=written.sha256, outcome=written.to_json()
        )

    async def _rest(self, job: Job, error: ApeError) -> None:
        seconds = self._line.rest(job.id)
        note = f"{self.printable(error)} It is tried again in {seconds:.0f} seconds."
        with suppress(ApeError):
            await asyncio.to_thread(self._note, job.id, JobState.RUNNING, note)

    async def _fail(self, job: Job, note: str) -> None:
        try:
            async with self._states:
                await finish_despite_cancellation(
                    asyncio.to_thread(self._note, job.id, JobState.FAILED, note)
                )
        except UnknownJob:
            pass
        except ApeError as failed:
            await self._rest(job, failed)

    def _note(self, id: str, state: JobState, note: str) -> None:
        if self.store.job(id).state is JobState.RUNNING:
            self.store.update(id, state=state, note=note)

    def printable(self, error: ApeError) -> str:
        """For those who ask by HTTP: where we keep things is nobody's business."""
        return redact_locations(error, folder=self.folder, store=self._store_url)

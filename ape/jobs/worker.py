"""Work on a job: take stretches from the store, post-edit their paragraphs in order, and save each as it comes.

Several lanes of one process, and several processes, may be at one job. What they share is the store alone.
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

# Looked at that often: whether somebody paused the job, and whether others have left something to do.
POLL_SECONDS = 1.0
RELEASE_SECONDS = 5.0
# A failing server is not a bad paragraph: when so many in a row were given up and none worked, the job stops, and
# those paragraphs wait again.
MIN_CONSECUTIVE_FAILURES = 5
# A passage that any model can be asked about, to see whether it answers at all.
PROBE_SEGMENT = Segment("…", "He came in and sat down.", source_language="und", target_language="en")


class EngineOutage(EngineError):
    """The model server fails on everything."""


@dataclass(frozen=True, slots=True)
class JobStep:
    """A paragraph was finished, or was given up for the reason."""

    row: JobParagraph
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
    """Do what is to be done, with so many paragraphs at once, until nothing waits or somebody stops the job.

    Gives the state in which the job was left: done, or paused or cancelled by somebody. Cancelling this call stops the
    work under way; whatever was finished is in the store. Raises EngineFails where the model server fails on
    everything.
    """
    worker = JobWorker.here()
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
    crew = _JobWorkers(store, job, engine, worker, concurrency, max_failures, listen, thread)
    try:
        return await crew.run()
    finally:
        gone = thread.submit(store.release, worker)
        # Not waited for on the loop: a database that somebody holds would stop all else with it.
        thread.shutdown(wait=False)
        with suppress(TimeoutError, StoreError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(gone)), RELEASE_SECONDS)


class _JobWorkers:
    """The lanes of one process on one job."""

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
        self.given_up: list[str] = []

    async def run(self) -> JobState:
        """Lane by lane until nothing waits; another process may hold the rest, and may die over it."""
        look = asyncio.create_task(self._look())
        try:
            while self.wanted is JobState.RUNNING:
                await self._all_lanes(look)
                if not (await self._aside(self.store.counts, self.job.id)).waiting:
                    break
                await asyncio.wait([look], timeout=POLL_SECONDS)
            await self._require_a_living_server()
            return JobState.DONE if self.wanted is JobState.RUNNING else self.wanted
        except (EngineOutage, asyncio.CancelledError):
            # Whoever stops us may do so because the server is gone.
            self.thread.submit(self._pardon)
            raise
        finally:
            look.cancel()
            with suppress(asyncio.CancelledError):
                await look

    async def _all_lanes(self, look: asyncio.Task[None]) -> None:
        lanes = [asyncio.create_task(self._lane()) for _ in range(self.concurrency)]
        try:
            pending: set[asyncio.Task[None]] = {look, *lanes}
            while pending - {look} and not look.done():
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()  # the first error ends it all; `look` ends where somebody stops the job
        finally:
            for lane in lanes:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _lane(self) -> None:
        while stretch := await self._aside(self.store.claim, self.job.id, self.worker):
            with suppress(_StretchLost):
                await self._do(stretch)
            await self._aside(self.store.release, self.worker, stretch)

    async def _do(self, stretch: Stretch) -> None:
        """The paragraphs of a stretch, each with those before it as context."""
        earlier = ContextWindow(self.job.recipe.context, stretch.before)
        for row in stretch.rows:
            if row.state is ParagraphState.WAITING:
                row = await self._one(stretch, row, earlier.pairs)
            earlier.add(row)

    async def _one(self, stretch: Stretch, row: JobParagraph, context: tuple[Context, ...]) -> JobParagraph:
        """One paragraph: its result, or, after several failures, the MT and the reason."""
        segment = paragraph_segment(row, self.job.recipe, context)
        for _ in range(self.max_failures):
            began = time.monotonic()
            try:
                result = await post_edit(segment, self.engine, options=self.options)
            except KeyRefused as error:
                raise EngineOutage(f"{error} All that was finished is kept.") from error
            except ApeError as error:
                if not isinstance(error, EngineError | InputError):
                    raise
                state = await self._aside(self._fail, stretch, row, error)
                if state is ParagraphState.WAITING:
                    continue
                given_up = replace(row, state=state, reason=str(error))
                self.listen(JobStep(given_up, str(error)))
                self._stop_if_nothing_works(error)
                return given_up
            except Exception as error:
                log.exception("Paragraph %s of job %s", row.planned.id, self.job.id)
                bug = InputError(f"Our own fault, please report it: {type(error).__name__}: {error}")
                state = await self._aside(self._fail, stretch, row, bug)
                given_up = replace(row, state=state, reason=str(bug))
                self.listen(JobStep(given_up, str(bug)))
                return given_up
            return await self._save(stretch, row, result, time.monotonic() - began)
        raise _StretchLost

    async def _save(
        self, stretch: Stretch, row: JobParagraph, result: PostEdit, seconds: float
    ) -> JobParagraph:
        self.given_up.clear()
        # Cancelled or not, what was made is kept.
        saved = await asyncio.shield(
            self._aside(self.store.save, stretch, row.planned.id, result, seconds=seconds)
        )
        if not saved:
            raise _StretchLost
        done = replace(row, state=ParagraphState.DONE, result=result, seconds=seconds)
        self.listen(JobStep(done))
        return done

    def _fail(self, stretch: Stretch, row: JobParagraph, error: EngineError | InputError) -> ParagraphState:
        """Count the failure. All of it in the store's thread, which a cancelled lane does not stop halfway."""
        if isinstance(error, InputError):
            # A paragraph that can't be asked about at all will not be mended by asking again.
            return self.store.fail(stretch, row.planned.id, str(error), most=1)
        state = self.store.fail(stretch, row.planned.id, str(error), most=self.max_failures)
        if state is ParagraphState.QUARANTINED:
            self.given_up.append(row.planned.id)
        return state

    def _pardon(self) -> None:
        """Those that were given up since anything last worked wait again."""
        if self.given_up:
            self.store.redo(self.job.id, paragraphs=tuple(self.given_up))

    async def _require_a_living_server(self) -> None:
        """Where the last paragraphs were given up, it may be the server that is gone, and not they that are bad.

        It is asked a question that does nobody harm: a list of models comes from many a server that answers no more.
        """
        if not self.given_up:
            return
        try:
            await post_edit(
                PROBE_SEGMENT, self.engine, options=Options(model=self.options.model, max_attempts=1)
            )
        except EngineError as error:
            raise EngineOutage(
                f"The model server answers nothing any more: {error} All that was finished is kept."
            ) from error

    def _stop_if_nothing_works(self, error: Exception) -> None:
        if len(self.given_up) < max(MIN_CONSECUTIVE_FAILURES, self.concurrency + 1):
            return
        raise EngineOutage(
            f"The model server failed on {len(self.given_up)} paragraphs in a row, the last time so: {error} "
            "All that was finished is kept; these paragraphs wait."
        )

    async def _look(self) -> None:
        """Keep our leases, and see whether somebody wants the job stopped."""
        while self.wanted is JobState.RUNNING:
            await asyncio.sleep(POLL_SECONDS)
            await self._aside(self.store.renew, self.worker)
            state = (await self._aside(self.store.job, self.job.id)).state
            if state in (JobState.PAUSED, JobState.CANCELLED):
                self.wanted = state

    async def _aside(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The database in its own thread, one call after the other."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.thread, lambda: call(*args, **kwargs))


class _StretchLost(Exception):
    """The stretch is another worker's by now."""


def paragraph_segment(row: JobParagraph, recipe: JobRecipe, context: tuple[Context, ...] = ()) -> Segment:
    """The passage that a paragraph is to a model."""
    return Segment(
        source=row.planned.source,
        mt=row.planned.mt,
        source_language=recipe.source_language,
        target_language=recipe.target_language,
        context=context,
        glossary=recipe.glossary,
        instructions=recipe.instructions,
    )

"""Open and plan uploaded books in processes of their own, so that no file holds up the service or other books."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ape.engines.protocol import Model
from ape.errors import InputError
from ape.jobs.job import JobRecipe, JobState
from ape.jobs.job_files import JobFiles
from ape.jobs.names_update import NamesChoice
from ape.jobs.planning import StartedJob, complete_recipe, open_files, plan_job
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.scheduler.process_calls import OutOfMemory, ProcessCalls, ProcessLimits

# Books planned at once, of all owners.
MAX_PROCESSES = 4
PROCESS_NAME = "book"


@dataclass(frozen=True, slots=True)
class BookPlan:
    """What is needed to plan an uploaded book."""

    id: str
    files: JobFiles
    output: Path
    recipe: JobRecipe
    model: Model
    engine: str
    name: str
    owner: str
    source_language: str | None = None
    target_language: str | None = None
    names: NamesChoice | None = None
    is_paused: bool = False

    def start(self, store: JobStore) -> StartedJob:
        """Open the files, pair them and store the job, which waits if it is to be paused."""
        opened = open_files(self.files, source_language=self.source_language, target_language=self.target_language)
        recipe = complete_recipe(
            self.recipe, self.model, source_language=opened.source_language, target_language=opened.target_language
        )
        started = plan_job(
            store,
            opened,
            recipe,
            id=self.id,
            output=str(self.output.resolve()),
            name=self.name,
            owner=self.owner,
            engine=self.engine,
            names=self.names,
        )
        return replace(started, job=store.update(self.id, state=JobState.PAUSED)) if self.is_paused else started


class BookPlanner:
    """Plans books in processes, few at once and one of each owner, each within the time and memory of the settings."""

    def __init__(self, store_url: str, settings: Settings) -> None:
        self._store_url = store_url
        self._limits = ProcessLimits(settings.plan_seconds, settings.plan_memory)
        self._processes = ProcessCalls(PROCESS_NAME, at_once=MAX_PROCESSES)

    async def plan(self, plan: BookPlan) -> StartedJob:
        """Plan the book; cancelling this call ends its process. Raises InputError where a limit is reached."""
        # The filter of edits is not needed here, and is large.
        given = replace(plan, model=replace(plan.model, edit_filter=None))
        try:
            return await self._processes.call(plan.owner, self._limits, _plan, self._store_url, given)
        except TimeoutError as error:
            raise InputError(
                f"The book was not read within {self._limits.seconds:g} seconds (plan_seconds). Is it damaged, or not "
                "a book? Send it in parts, or in another format.",
                field="mt",
            ) from error
        except OutOfMemory as error:
            raise InputError(
                f"The book can't be read within {self._limits.bytes / 1e9:.1f} GB of memory (plan_memory_bytes). Is it "
                "damaged, or not a book? Send it in parts.",
                field="mt",
            ) from error

    def close(self) -> None:
        """Give up all books that are being planned: their calls are cancelled."""
        self._processes.close()


def _plan(store_url: str, plan: BookPlan) -> StartedJob:
    with JobStore(store_url) as store:
        return plan.start(store)

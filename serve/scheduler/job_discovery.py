"""Which jobs of the store are to be worked on here: ours, planned to the end, and with their files on this machine."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from ape.errors import UnknownJob
from ape.jobs.job import Job, JobState
from ape.jobs.store import JobStore

# Nobody takes so long to plan a book.
PLANNING_SECONDS = 3600.0
FILE_MISSING = "The uploaded file is not on this machine. The job goes on where it is, or once it is back."


class JobDiscovery:
    """Looks at the store, from a thread. `arriving` are the ids of books on their way in, as they come and go."""

    def __init__(self, store: JobStore, folder: Path, *, arriving: Collection[str]) -> None:
        self.states: Counter[str] = Counter()
        self._store = store
        self._folder = folder
        self._arriving = arriving
        self._planned: set[str] = set()
        self._away: set[str] = set()

    def is_ours(self, job: Job) -> bool:
        """Whether its output is to be in our folder."""
        return Path(job.output).is_relative_to(self._folder)

    def look_again(self, id: str) -> None:
        """Tell of a missing file once more, should it still be missing."""
        self._away.discard(id)

    def look(self, at_work: Mapping[str, bool]) -> list[Job]:
        """The jobs to be worked on. `at_work` are those that are, and whether a paragraph of them has come through."""
        ours = [job for job in self._store.jobs() if self.is_ours(job)]
        self.states = Counter(job.state.value for job in ours)
        running = [job for job in ours if job.state is JobState.RUNNING]
        self._planned &= {job.id for job in running}
        for job in running:
            if job.note and at_work.get(job.id):
                with suppress(UnknownJob):
                    self._store.update(job.id, note="")  # it works again
        planned = [job for job in running if job.id not in self._arriving and self._is_planned(job)]
        return [job for job in planned if self._is_here(job, at_work)]

    def _is_here(self, job: Job, at_work: Mapping[str, bool]) -> bool:
        """Whether its file is. Where not, the job stays as it is: another machine may have it."""
        if Path(job.mt).is_file():
            self._away.discard(job.id)
            return True
        if job.id not in self._away and job.id not in at_work:
            with suppress(UnknownJob):
                self._store.update(job.id, note=FILE_MISSING)
            self._away.add(job.id)  # told once: the machine that has the file may have other things to tell
        return False

    def _is_planned(self, job: Job) -> bool:
        """Whether all its paragraphs are there. A job is in the store before them, and they come all at once."""
        if job.id in self._planned:
            return True
        if self._store.counts(job.id).total:
            self._planned.add(job.id)
            return True
        if time.time() - job.created.timestamp() > PLANNING_SECONDS:
            note = "The service was stopped while it read the book. Send the book again."
            self._store.update(job.id, state=JobState.FAILED, note=note)
        return False

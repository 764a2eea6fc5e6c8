"""Find the jobs in the store that this service can run: its own, fully planned, with their files on this machine."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from ape.errors import UnknownJob
from ape.jobs.job import Job, JobState
from ape.jobs.store import JobStore

# Longer than planning any book takes.
PLANNING_SECONDS = 3600.0
FILE_MISSING = "The uploaded file is not on this machine. The job continues where the file is, or once it is back."


class JobDiscovery:
    """Query the store, from a worker thread. `uploading` holds the ids of books that are still being received."""

    def __init__(self, store: JobStore, folder: Path, *, uploading: Collection[str]) -> None:
        self.states: Counter[str] = Counter()
        self._store = store
        self._folder = folder
        self._uploading = uploading
        self._planned: set[str] = set()
        self._missing: set[str] = set()

    def owns(self, job: Job) -> bool:
        """Whether the job's output lies in the service's folder."""
        return Path(job.output).is_relative_to(self._folder)

    def recheck(self, id: str) -> None:
        """Report a missing file again if it is still missing."""
        self._missing.discard(id)

    def find_jobs(self, running: Mapping[str, bool]) -> list[Job]:
        """Return the jobs to run. `running` maps those that run now to whether a paragraph has succeeded."""
        own = [job for job in self._store.jobs(with_names=False) if self.owns(job)]
        self.states = Counter(job.state.value for job in own)
        jobs = [job for job in own if job.state is JobState.RUNNING]
        self._planned &= {job.id for job in jobs}
        for job in jobs:
            if job.note and running.get(job.id):
                with suppress(UnknownJob):
                    self._store.update(job.id, note="")  # it has recovered
        planned = [job for job in jobs if job.id not in self._uploading and self._is_planned(job)]
        return [job for job in planned if self._has_file(job, running)]

    def _has_file(self, job: Job, running: Mapping[str, bool]) -> bool:
        """Whether the job's file is here. If not, the job stays as it is: another machine may have it."""
        if Path(job.mt).is_file():
            self._missing.discard(job.id)
            return True
        if job.id not in self._missing and job.id not in running:
            with suppress(UnknownJob):
                self._store.update(job.id, note=FILE_MISSING)
            self._missing.add(job.id)  # noted once: the machine that has the file may write other notes
        return False

    def _is_planned(self, job: Job) -> bool:
        """Whether the job has its paragraphs, which are added in one transaction after the job itself."""
        if job.id in self._planned:
            return True
        if self._store.counts(job.id).total:
            self._planned.add(job.id)
            return True
        if time.time() - job.created.timestamp() > PLANNING_SECONDS:
            note = "The service was stopped while it read the book. Send the book again."
            self._store.update(job.id, state=JobState.FAILED, note=note)
        return False

"""Give a job results that were made elsewhere: it becomes a job like any other, ready to be written and reviewed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ape.errors import Conflict
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_files import job_id
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.planning import OpenedFiles, new_job, store_plan
from ape.jobs.store import JobStore, JobWorker
from ape.passage.result import PostEdit


@dataclass(frozen=True, slots=True)
class BookResults:
    """Results with their seconds, by paragraph id and fingerprint, and the reasons of those in quarantine, by id."""

    results: Mapping[tuple[str, str], tuple[PostEdit, float]]
    quarantined: Mapping[str, str]


def store_results(
    store: JobStore, opened: OpenedFiles, recipe: JobRecipe, made: BookResults, *, output: Path, engine: str, names: str
) -> Job:
    """Store the book as a job with these results, and return it, ready to be written. `names` is its ledger in JSON.

    Results that the job has already stay. Raises Conflict where a paragraph has neither a result nor a reason.
    """
    key = job_id(opened.files, output)
    wanted = replace(new_job(opened, recipe, id=key, output=str(output.resolve()), engine=engine), names=names)
    with suppress(Conflict):  # it may be known
        store.add(wanted)
    store_plan(store, wanted, opened.pairing)
    store.redo(key, quarantined=True)
    worker = JobWorker.here()
    try:
        while stretch := store.claim(key, worker, in_order=True):
            for row in stretch.rows:
                planned = row.planned
                if row.state is not ParagraphState.WAITING:
                    continue
                if found := made.results.get((planned.id, planned.fingerprint)):
                    store.save(stretch, planned.id, found[0], seconds=found[1])
                elif reason := made.quarantined.get(planned.id):
                    store.fail(stretch, planned.id, reason, max_failures=1)
                else:
                    raise Conflict(f"The paragraph {planned.id} has no result. Plan and run the batch again.")
            store.release(worker, stretch)
    finally:
        store.release(worker)
    job = store.update(key, state=JobState.RUNNING, note="")
    return replace(job, state=JobState.DONE)

"""Small jobs, plans and results for tests of the store."""

from __future__ import annotations

from datetime import UTC, datetime

from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import PlannedParagraph
from ape.jobs.store import JobStore, JobWorker, Stretch
from ape.passage.result import Decision, PostEdit, Usage

RECIPE = JobRecipe("model", "revision", "chat@0", "fr", "en", context=2, glossary=(("Loire", "Loire"),))


def a_job(id: str = "j", *, owner: str = "", created: float = 1_800_000_000.0, recipe: JobRecipe = RECIPE) -> Job:
    moment = datetime.fromtimestamp(created, UTC)
    return Job(
        id, owner, "A Book", "s.epub", "1", "m.epub", "2", "o.epub", "epub", recipe, JobState.RUNNING, moment, moment
    )


def planned(number: int, *, text: str | None = None, recipe: JobRecipe = RECIPE, skip: str = "") -> PlannedParagraph:
    """Paragraph `p{number}`, with ten in a chapter and five in a stretch."""
    source, mt = f"La phrase {text or number}.", f"The phrase {text or number}."
    return PlannedParagraph(
        id=f"p{number}",
        position=number,
        chapter=number // 10,
        title=f"Chapter {number // 10}",
        stretch=number // 5,
        source=source,
        mt=mt,
        how="alignment",
        confidence=0.75,
        skip=skip,
        fingerprint="" if skip else recipe.fingerprint(source, mt),
    )


def a_plan(number: int = 20, *, recipe: JobRecipe = RECIPE) -> list[PlannedParagraph]:
    return [planned(position, recipe=recipe) for position in range(number)]


def a_result(text: str = "The sentence.", decision: Decision = Decision.EDITED) -> PostEdit:
    return PostEdit("x", text, decision, (), (), 0.25, "model", "chat@0", Usage(30, 10), attempt=1)


def begin(store: JobStore, number: int = 20, *, id: str = "j") -> Job:
    """A job with a plan."""
    job = a_job(id)
    store.add(job)
    store.plan(id, a_plan(number))
    return job


def claimed(store: JobStore, worker: JobWorker, *, id: str = "j") -> Stretch:
    stretch = store.claim(id, worker)
    assert stretch is not None
    return stretch


def finish(store: JobStore, worker: JobWorker, *, id: str = "j", decision: Decision = Decision.EDITED) -> int:
    """Finish all waiting paragraphs; return their number."""
    done = 0
    while stretch := store.claim(id, worker):
        for row in stretch.rows:
            done += store.save(stretch, row.planned.id, a_result(f"new {row.planned.id}", decision), seconds=2.0)
    return done

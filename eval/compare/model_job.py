"""Job of one model over the set, in the comparison's job store, so that an interrupted run can resume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ape.books.pairing.book_pairing import ParagraphPair, UnpairedCounter
from ape.engines.protocol import Engine
from ape.errors import Conflict, InputError, UnknownJob
from ape.files.hashing import hash_text
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.planning import complete_recipe, plan_pairs
from ape.jobs.store import JobStore
from ape.passage.options import DEFAULT_MODEL_NAME
from eval.compare.comparison_set import ComparisonSet
from eval.compare.system import ParagraphOutcome, System
from eval.compare.system_spec import ModelSystemSpec


def find_finished_job(store: JobStore, model: ModelSystemSpec, recipe: JobRecipe) -> Job | None:
    """The finished job of the model with this recipe, or None. The engine is not needed."""
    try:
        job = store.job(system_job_id(model.name))
    except UnknownJob:
        return None
    counts = store.counts(job.id)
    finished = job.is_finished_by(model.describe(), recipe) and not (counts.quarantined or counts.waiting)
    return job if finished else None


async def begin_model_job(
    store: JobStore, data: ComparisonSet, model: ModelSystemSpec, engine: Engine, recipe: JobRecipe
) -> Job:
    """Create or resume the job of the model; failed paragraphs are tried again.

    Raises Conflict if the job was begun with another model or recipe.
    """
    require_sources(data)
    async with engine.using(DEFAULT_MODEL_NAME) as served:
        languages = {"source_language": data.corpus.source_language, "target_language": data.corpus.target_language}
        recipe = complete_recipe(recipe, served, **languages)
    job = _job(data, model, recipe)
    with suppress(UnknownJob):
        _require_same_job(store.job(job.id), job)
    plan_pairs(store, job, lambda: _SetPairs(data))
    store.redo(job.id, quarantined=True)
    return store.update(job.id, state=JobState.RUNNING)


def require_sources(data: ComparisonSet) -> None:
    """Raise InputError if a document has no source, which models need."""
    if not all(document.sources for document in data.corpus.documents):
        raise InputError(
            "The set has no source, which a model needs. Give the source in the set or as a file, or compare only "
            "ready outputs (NAME=@FILE, NAME=:SYSTEM).",
            field="source",
        )


def system_from_job(store: JobStore, job: Job, model: ModelSystemSpec) -> System:
    """The system made from a job's paragraphs."""
    rows = tuple(_outcome(row) for row in store.rows(job.id))
    origin: dict[str, Any] = {
        "given": model.given,
        "hashes": model.hashes(),
        "recipe": asdict(job.recipe),
        "usage": store.counts(job.id).token_counts(),
    }
    return System(model.name, "model", rows, origin)


def system_job_id(system: str) -> str:
    """Job id of a system; one job per system."""
    return hash_text(system, length=10, errors="replace")


def _outcome(row: JobParagraph) -> ParagraphOutcome:
    if row.result is None:
        return ParagraphOutcome(row.text, str(row.state))
    return ParagraphOutcome(row.result.post_edit, str(row.result.decision), row.result.findings)


def _job(data: ComparisonSet, model: ModelSystemSpec, recipe: JobRecipe) -> Job:
    now = datetime.now(UTC)
    return Job(
        id=system_job_id(model.name),
        owner="",
        name=model.name,
        source="",
        source_hash="",
        mt="",
        mt_hash=data.digest,
        output="",
        format="set",
        recipe=recipe,
        state=JobState.RUNNING,
        created=now,
        updated=now,
        engine=model.describe(),
    )


class _SetPairs:
    """Paragraph pairs of the set."""

    def __init__(self, data: ComparisonSet) -> None:
        self.data, self.unpaired_source = data, UnpairedCounter()

    def pairs(self) -> Iterator[ParagraphPair]:
        """Yield every paragraph once, in order."""
        ids = iter(self.data.ids)
        for chapter, document in enumerate(self.data.corpus.documents):
            both = zip(document.sources, *document.outputs.values(), strict=True)
            for position, (source, mt) in enumerate(both):
                yield ParagraphPair(next(ids), chapter, document.id, position, mt, source, (), "set", 1.0)


def _require_same_job(old: Job, new: Job) -> None:
    """Raise Conflict if the texts of the jobs would differ."""
    before, now = _decisive(old), _decisive(new)
    changed = [f"{key} was {before[key]!r} and is {now[key]!r}" for key in before if before[key] != now[key]]
    if changed:
        raise Conflict(
            f"System {new.name!r} of this comparison was begun with another model or other settings: "
            f"{'; '.join(changed)}. Give the same ones to resume, or choose another name or output folder.",
            field="system",
        )


def _decisive(job: Job) -> dict[str, Any]:
    """Everything that determines the texts of a job."""
    return asdict(job.recipe) | {"engine": job.engine}

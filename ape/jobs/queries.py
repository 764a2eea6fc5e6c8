"""Read a job: counts, paragraphs in order, new texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from ape.jobs.counts import COUNT_NAMES, ChapterCounts, JobCounts, ModelRate
from ape.jobs.database import Database
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.result_rows import join_current_result, read_paragraph, select_paragraphs
from ape.jobs.tables import DatabaseTime, paragraphs, results, stretches, workers
from ape.passage.result import Decision

_BATCH = 200
# Number of latest results of a model over which its rate is measured.
_RECENT = 300
_SUMS = tuple(func.coalesce(func.sum(stretches.c[name]), 0).label(name) for name in COUNT_NAMES)


def count_paragraphs(connection: Connection, job: str) -> JobCounts:
    """The sums over the stretches."""
    return _counts(connection.execute(select(*_SUMS).where(stretches.c.job == job)).one())


def count_active_workers(connection: Connection, job: str) -> int:
    """The number of workers that hold a stretch of the job."""
    query = (
        select(func.count(func.distinct(stretches.c.worker)))
        .join_from(stretches, workers, stretches.c.worker == workers.c.id)
        .where(stretches.c.job == job, workers.c.expires > DatabaseTime())
    )
    return int(connection.scalar(query) or 0)


def count_by_chapter(connection: Connection, job: str) -> list[ChapterCounts]:
    """The counts by chapter, in book order."""
    query = (
        select(stretches.c.chapter, func.min(stretches.c.title), *_SUMS)
        .where(stretches.c.job == job)
        .group_by(stretches.c.chapter)
        .order_by(stretches.c.chapter)
    )
    return [ChapterCounts(chapter, title, _counts(sums)) for chapter, title, *sums in connection.execute(query)]


def _counts(sums: Iterable[Any]) -> JobCounts:
    return JobCounts(*map(int, sums))


def model_rate(connection: Connection, model: str) -> ModelRate | None:
    """Means over the latest results of the model."""
    recent = (
        select(results.c.seconds, results.c.prompt_tokens, results.c.completion_tokens)
        .where(results.c.model == model)
        .order_by(results.c.created.desc())
        .limit(_RECENT)
        .subquery()
    )
    means = (func.avg(column) for column in recent.c)
    number, *found = connection.execute(select(func.count(), *means).select_from(recent)).one()
    return ModelRate(number, *map(float, found)) if number else None


def select_job_paragraphs(
    database: Database, job: str, *, state: ParagraphState | None, decision: Decision | None, chapter: int | None
) -> Iterator[JobParagraph]:
    """Paragraphs in order, in batches: no transaction stays open between them."""
    query = _filtered(job, state=state, decision=decision, chapter=chapter)
    last = -1
    while True:
        with database.read_transaction() as connection:
            batch = connection.execute(query.where(paragraphs.c.position > last)).mappings().all()
        yield from map(read_paragraph, batch)
        if len(batch) < _BATCH:
            return
        last = batch[-1]["position"]


def _filtered(job: str, *, state: ParagraphState | None, decision: Decision | None, chapter: int | None) -> Select[Any]:
    query = select_paragraphs().where(paragraphs.c.job == job).order_by(paragraphs.c.position).limit(_BATCH)
    for column, wanted in (
        (paragraphs.c.state, state),
        (paragraphs.c.decision, decision),
        (paragraphs.c.chapter, chapter),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    return query


class NewTexts:
    """The new text of a paragraph by id, None where it stays as it is.

    Calls in book order need one query for many paragraphs.
    """

    def __init__(self, database: Database, job: str) -> None:
        self._database = database
        self._job = job
        self._near: dict[str, str | None] = {}

    def __call__(self, paragraph: str) -> str | None:
        """Return the new text; None also for an unknown paragraph."""
        if paragraph not in self._near:
            self._near = self._from(paragraph)
        return self._near.get(paragraph)

    def _from(self, paragraph: str) -> dict[str, str | None]:
        first = (
            select(paragraphs.c.position)
            .where(paragraphs.c.job == self._job, paragraphs.c.id == paragraph)
            .scalar_subquery()
        )
        edited = and_(join_current_result(), results.c.decision == Decision.EDITED)
        query = (
            select(paragraphs.c.id, results.c.post_edit)
            .outerjoin_from(paragraphs, results, edited)
            .where(paragraphs.c.job == self._job, paragraphs.c.position >= first)
            .order_by(paragraphs.c.position)
            .limit(_BATCH)
        )
        with self._database.read_transaction() as connection:
            return {id: text for id, text in connection.execute(query)}  # noqa: A001, C416

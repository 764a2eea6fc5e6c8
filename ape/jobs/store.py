"""The job store: books at work, in SQLite or PostgreSQL, so that nothing finished is lost and nothing is done twice.

All of it may be called from any thread, by many processes at once, and on several machines where they share a server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from sqlalchemy import Connection, RowMapping, delete, exists, select, update

from ape.books.book import NewText
from ape.errors import Conflict, UnknownJob
from ape.jobs import claims, queries
from ape.jobs.counts import ChapterCounts, JobCounts, ModelRate, PlanChanges
from ape.jobs.database import Database
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.jobs.leases import JobWorker, Stretch
from ape.jobs.plan_update import lock_job, update_plan, upsert
from ape.jobs.redo import redo_paragraphs
from ape.jobs.schema import migrate
from ape.jobs.tables import DatabaseTime, jobs, paragraphs, results, stretches
from ape.passage.result import Decision, PostEdit

__all__ = [
    "ChapterCounts",
    "JobChanges",
    "JobCounts",
    "JobStore",
    "JobWorker",
    "ModelRate",
    "PlanChanges",
    "Stretch",
]


class JobChanges(TypedDict, total=False):
    """What can be changed about a job."""

    state: JobState
    recipe: JobRecipe
    name: str
    source: str
    source_hash: str
    mt: str
    mt_hash: str
    output: str
    output_hash: str
    note: str
    encoding: str
    outcome: str
    engine: str
    unpaired: str


class JobStore:
    """Jobs and all that belongs to them. `url` is a file, or "sqlite:///…", or "postgresql://…".

    A worker that is not heard of for `lease_seconds` may lose what it holds. `timeout_seconds` is how long to wait for another
    program that holds the database.
    """

    def __init__(self, url: str, *, lease_seconds: float = 60.0, timeout_seconds: float = 30.0) -> None:
        self._lease = lease_seconds
        self._database = Database(url, timeout_seconds=timeout_seconds)
        try:
            migrate(self._database)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Jobs.

    def add(self, job: Job) -> None:
        """Keep a new job. Raises Conflict where there is one of that id."""
        with self._database.write_transaction() as connection:
            entry = upsert(connection, jobs).values(_job_columns(job)).on_conflict_do_nothing()
            if connection.scalar(entry.returning(jobs.c.id)) is None:
                raise Conflict(f"There is a job {job.id!r} already.")

    def job(self, id: str, *, owner: str | None = None) -> Job:
        """The job. Raises UnknownJob where there is none, or where `owner` is given and it is not theirs."""
        with self._database.read_transaction() as connection:
            return _job(connection, id, owner)

    def jobs(self, *, owner: str | None = None, state: JobState | None = None) -> list[Job]:
        """All jobs, or those of an owner or in a state, the newest first."""
        query = select(jobs).order_by(jobs.c.created.desc(), jobs.c.id)
        if owner is not None:
            query = query.where(jobs.c.owner == owner)
        if state is not None:
            query = query.where(jobs.c.state == state)
        with self._database.read_transaction() as connection:
            return [_to_job(row) for row in connection.execute(query).mappings()]

    def update(self, id: str, **changes: Unpack[JobChanges]) -> Job:
        """Change the job, and give it back as it is then."""
        values: dict[str, Any] = {**changes}
        if unknown := values.keys() - JobChanges.__annotations__.keys():
            raise TypeError(f"A job's {min(unknown)} can't be changed.")
        if "recipe" in changes:
            values["recipe"] = changes["recipe"].to_json()
        with self._database.write_transaction() as connection:
            connection.execute(update(jobs).where(jobs.c.id == id).values(**values, updated=DatabaseTime()))
            return _job(connection, id)

    def remove(self, id: str) -> None:
        """Forget the job and everything that belongs to it."""
        with self._database.write_transaction() as connection:
            lock_job(connection, id)
            for table in (stretches, paragraphs, results):
                connection.execute(delete(table).where(table.c.job == id))
            connection.execute(delete(jobs).where(jobs.c.id == id))

    def remove_unplanned(self, id: str) -> None:
        """Forget the job, unless it has paragraphs by now: somebody else may have planned it meanwhile."""
        planned = exists().where(paragraphs.c.job == id)
        with self._database.write_transaction() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == id, ~planned))

    # The plan.

    def plan(
        self, id: str, rows: Iterable[PlannedParagraph], *, job: Callable[[], Job] | None = None
    ) -> PlanChanges:
        """Take the paragraphs of the book as they are now, in order; all of them or, where `rows` raises, none.

        `job` is asked for when all rows were read, and is kept together with them: what the plan was made of, and its
        paragraphs, are never at odds. Only its name, its owner, and what is known of its output stay as they were.

        One whose fingerprint is as it was keeps its result. One that is new or has changed takes a result of this job
        for its new fingerprint (it has moved, or an old recipe is back), or else waits, with no failures. What the book
        does not have any more goes; its results stay as history. While `rows` is read nobody is kept waiting.
        """
        return update_plan(self._database, id, rows, first=lambda connection: _keep(connection, job))

    def redo(
        self,
        id: str,
        *,
        paragraphs: Sequence[str] = (),
        rejected: bool = False,
        quarantined: bool = False,
    ) -> int:
        """Let these wait again, and tell how many had a result or were in quarantine. Old results stay as history."""
        with self._database.write_transaction() as connection:
            lock_job(connection, id)
            return redo_paragraphs(connection, id, ids=paragraphs, rejected=rejected, quarantined=quarantined)

    # Work.

    def claim(self, id: str, worker: JobWorker) -> Stretch | None:
        """The heaviest stretch that has paragraphs waiting and that nobody alive holds; None where there is none.

        It is the worker's alone until released, or until it is not heard of for too long. So is no other stretch: one
        that is done, or given up for now, should be released.
        """
        with self._database.read_transaction() as connection:
            ended = claims.dead_workers(connection)
        with self._database.write_transaction() as connection:
            if ended:
                claims.forget_workers(connection, ended)
            claims.renew_lease(connection, worker, lease=self._lease)
            return claims.claim_stretch(connection, id, worker)

    def renew(self, worker: JobWorker) -> set[tuple[str, int]]:
        """Say that the worker is alive, and hear what is still its own: job and number of stretches.

        What it claimed and what is not among them any more is lost: others do it. A stretch without anything left
        to do is nobody's, too.
        """
        with self._database.write_transaction() as connection:
            claims.renew_lease(connection, worker, lease=self._lease)
            return claims.held_stretches(connection, worker)

    def release(self, worker: JobWorker, stretch: Stretch | None = None) -> None:
        """Let go of this stretch; or of all, when the worker goes."""
        with self._database.write_transaction() as connection:
            claims.release_claims(connection, worker, stretch)

    def save(self, stretch: Stretch, paragraph_id: str, result: PostEdit, *, seconds: float) -> bool:
        """Keep the result, for good once this returns True.

        False, and nothing is changed, where the stretch is not ours any more, or where the paragraph has a result by
        now or is another one than was claimed.
        """
        row = _row(stretch, paragraph_id)
        try:
            with self._database.prepared_transaction() as transaction:
                claims.save_result(transaction, stretch, row, result, seconds=seconds)
        except claims.ClaimLost:
            return False
        return True

    def fail(self, stretch: Stretch, paragraph_id: str, reason: str, *, max_failures: int) -> ParagraphState:
        """Count a failure, and tell where the paragraph stands then: in quarantine once it failed `max_failures` times.

        Nothing is counted where `save` would keep nothing.
        """
        row = _row(stretch, paragraph_id)
        try:
            with self._database.write_transaction() as connection:
                return claims.record_failure(connection, stretch, row, reason, max_failures=max_failures)
        except claims.ClaimLost:
            with self._database.read_transaction() as connection:
                return claims.paragraph_state(connection, stretch.job, paragraph_id) or row.state

    # Looking.

    def counts(self, id: str) -> JobCounts:
        """How the job stands. Cheap: it may be asked every second."""
        with self._database.read_transaction() as connection:
            return queries.count_paragraphs(connection, id)

    def active_workers(self, id: str) -> int:
        """How many workers are at it, here or elsewhere; who died elsewhere counts until their lease is over."""
        with self._database.read_transaction() as connection:
            ended = claims.dead_workers(connection)
        if ended:
            with self._database.write_transaction() as connection:
                claims.forget_workers(connection, ended)
        with self._database.read_transaction() as connection:
            return queries.count_active_workers(connection, id)

    def chapters(self, id: str) -> list[ChapterCounts]:
        """How its chapters stand, in order. As cheap."""
        with self._database.read_transaction() as connection:
            return queries.count_by_chapter(connection, id)

    def rows(
        self,
        id: str,
        *,
        state: ParagraphState | None = None,
        decision: Decision | None = None,
        chapter: int | None = None,
    ) -> Iterator[JobParagraph]:
        """The paragraphs, in the order of the book, as many at a time as fit into little memory."""
        return queries.select_job_paragraphs(
            self._database, id, state=state, decision=decision, chapter=chapter
        )

    def new_texts(self, id: str) -> NewText:
        """What a writer asks for the new text of a paragraph: None where it stays as it is. Quick in book order."""
        return queries.NewTexts(self._database, id)

    def rate(self, model: str) -> ModelRate | None:
        """How fast the model was of late, in any job; None where it never was."""
        with self._database.read_transaction() as connection:
            return queries.model_rate(connection, model)


def _row(stretch: Stretch, paragraph_id: str) -> JobParagraph:
    for row in stretch.rows:
        if row.planned.id == paragraph_id:
            return row
    raise ValueError(f"Paragraph {paragraph_id!r} is not in stretch {stretch.number}.")


def _job(connection: Connection, id: str, owner: str | None = None) -> Job:
    row = connection.execute(select(jobs).where(jobs.c.id == id)).mappings().one_or_none()
    if row is None or (owner is not None and row["owner"] != owner):
        raise UnknownJob(f"There is no job {id!r}.")
    return _to_job(row)


# What planning anew does not change about a job.
_STAYS = ("id", "owner", "name", "created", "output_hash")


def _keep(connection: Connection, job: Callable[[], Job] | None) -> None:
    """Write the job as it is planned, also where somebody has removed it meanwhile."""
    if job is None:
        return
    insert = upsert(connection, jobs).values(_job_columns(job()))
    new = {column.name: insert.excluded[column.name] for column in jobs.c if column.name not in _STAYS}
    connection.execute(
        insert.on_conflict_do_update(index_elements=["id"], set_=new | {"updated": DatabaseTime()})
    )


def _job_columns(job: Job) -> dict[str, Any]:
    values = {field.name: getattr(job, field.name) for field in fields(job)}
    return values | {
        "recipe": job.recipe.to_json(),
        "created": job.created.timestamp(),
        "updated": job.updated.timestamp(),
    }


def _to_job(row: RowMapping) -> Job:
    values: dict[str, Any] = dict(row)
    recipe = json.loads(values["recipe"])
    recipe["glossary"] = tuple(map(tuple, recipe["glossary"]))
    return Job(
        **values
        | {
            "recipe": JobRecipe(**recipe),
            "state": JobState(values["state"]),
            "created": datetime.fromtimestamp(values["created"], UTC),
            "updated": datetime.fromtimestamp(values["updated"], UTC),
        }
    )

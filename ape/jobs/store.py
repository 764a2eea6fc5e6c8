"""The job store, in SQLite or PostgreSQL: no finished result is lost, and none is made twice.

Safe to call from any thread, from many processes, and from several machines that share a server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from sqlalchemy import Connection, RowMapping, delete, exists, func, select, update

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
from ape.jobs.result_rows import result_columns
from ape.jobs.schema import migrate
from ape.jobs.tables import DatabaseTime, jobs, paragraphs, results, review_links, review_log, reviews, stretches
from ape.passage.result import Decision, PostEdit

__all__ = ["ChapterCounts", "JobChanges", "JobCounts", "JobStore", "JobWorker", "ModelRate", "PlanChanges", "Stretch"]

# How long a running process on this machine may be late with its lease: after a jump of the clock all are.
_GRACE_SECONDS = 10.0


class JobChanges(TypedDict, total=False):
    """The fields of a job that `update` may change."""

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
    names: str


class JobStore:
    """Jobs with their paragraphs, results and workers. `url` is a file, "sqlite:///…" or "postgresql://…".

    A worker that does not renew its lease for `lease_seconds` may lose its stretches. `timeout_seconds` is how long to
    wait for a locked database.
    """

    def __init__(self, url: str, *, lease_seconds: float = 60.0, timeout_seconds: float = 30.0) -> None:
        self._lease = lease_seconds
        self._expired: dict[tuple[str, float], float] = {}
        self._database = Database(url, timeout_seconds=timeout_seconds)
        try:
            migrate(self._database)
            self._database.close_to_others()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The address, with its password, for another process."""
        return self._database.url.render_as_string(hide_password=False)

    @property
    def database(self) -> Database:
        """The database, for other tables than those of the jobs."""
        return self._database

    def check(self) -> None:
        """Raise StoreError where the database does not answer."""
        with self._database.read_transaction() as connection:
            connection.execute(select(1))

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Jobs.

    def add(self, job: Job) -> None:
        """Add a new job. Raises Conflict where the id exists."""
        with self._database.write_transaction() as connection:
            entry = upsert(connection, jobs).values(_job_columns(job)).on_conflict_do_nothing()
            if connection.scalar(entry.returning(jobs.c.id)) is None:
                raise Conflict(f"There is a job {job.id!r} already.")

    def job(self, id: str, *, owner: str | None = None) -> Job:
        """Read the job. Raises UnknownJob where there is none, or where it belongs to another owner."""
        with self._database.read_transaction() as connection:
            return _job(connection, id, owner)

    def jobs(self, *, owner: str | None = None, state: JobState | None = None, with_names: bool = True) -> list[Job]:
        """List jobs, newest first, optionally of one owner or in one state, or without their names.

        The names of a book may take megabytes, and few readers of a list need them.
        """
        columns = [column for column in jobs.c if with_names or column is not jobs.c.names]
        query = select(*columns).order_by(jobs.c.created.desc(), jobs.c.id)
        if owner is not None:
            query = query.where(jobs.c.owner == owner)
        if state is not None:
            query = query.where(jobs.c.state == state)
        with self._database.read_transaction() as connection:
            return [_to_job(row) for row in connection.execute(query).mappings()]

    def names_characters(self, owner: str) -> int:
        """The length of the names of all jobs of an owner."""
        query = select(func.coalesce(func.sum(func.length(jobs.c.names)), 0)).where(jobs.c.owner == owner)
        with self._database.read_transaction() as connection:
            return int(connection.scalar(query) or 0)

    def update(self, id: str, **changes: Unpack[JobChanges]) -> Job:
        """Change fields of the job and return it."""
        values: dict[str, Any] = {**changes}
        if unknown := values.keys() - JobChanges.__annotations__.keys():
            raise TypeError(f"A job's {min(unknown)} can't be changed.")
        if "recipe" in changes:
            values["recipe"] = changes["recipe"].to_json()
        with self._database.write_transaction() as connection:
            connection.execute(update(jobs).where(jobs.c.id == id).values(**values, updated=DatabaseTime()))
            return _job(connection, id)

    def remove(self, id: str) -> None:
        """Delete the job and everything that belongs to it."""
        with self._database.write_transaction() as connection:
            lock_job(connection, id)
            for table in (review_links, review_log, reviews, stretches, paragraphs, results):
                connection.execute(delete(table).where(table.c.job == id))
            connection.execute(delete(jobs).where(jobs.c.id == id))

    def remove_unplanned(self, id: str) -> None:
        """Delete the job unless it has paragraphs: another process may have planned it meanwhile."""
        planned = exists().where(paragraphs.c.job == id)
        with self._database.write_transaction() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == id, ~planned))

    # The plan.

    def plan(self, id: str, rows: Iterable[PlannedParagraph], *, job: Callable[[], Job] | None = None) -> PlanChanges:
        """Store the paragraphs of the book in order: all of them or, where `rows` raises, none.

        `job` is called after all rows were read and stored in the same transaction, so that job and paragraphs always
        agree. Name, owner and output of a known job stay.

        A paragraph with an unchanged fingerprint keeps its result. A new or changed one reuses a result of this job
        with its fingerprint (it has moved, or an old recipe is back), or else waits, with no failures. Paragraphs that
        are no longer in the book are removed; their results stay as history. Reading `rows` locks nobody out.
        """
        return update_plan(self._database, id, rows, first=lambda connection: _keep(connection, job))

    def redo(
        self, id: str, *, paragraphs: Sequence[str] = (), rejected: bool = False, quarantined: bool = False
    ) -> int:
        """Reset paragraphs to waiting and return how many had a result or a quarantine. Old results stay as history."""
        with self._database.write_transaction() as connection:
            lock_job(connection, id)
            return redo_paragraphs(connection, id, ids=paragraphs, rejected=rejected, quarantined=quarantined)

    def add_results(self, id: str, made: Iterable[tuple[PlannedParagraph, PostEdit, float]]) -> None:
        """Store results, with their seconds, for paragraphs that the next plan gives these fingerprints."""
        with self._database.write_transaction() as connection:
            lock_job(connection, id)
            rows = [
                {"job": id, "fingerprint": planned.fingerprint, "paragraph": planned.id, "retired": 0, "worker": ""}
                | {"seconds": seconds, **result_columns(result)}
                for planned, result, seconds in made
            ]
            if rows:
                entry = upsert(connection, results).values({"created": DatabaseTime()}).on_conflict_do_nothing()
                connection.execute(entry, rows)

    # Work.

    def claim(self, id: str, worker: JobWorker, *, in_order: bool = False) -> Stretch | None:
        """Claim the heaviest free stretch with waiting paragraphs, or the first `in_order`; None where there is none.

        The worker holds it until it is released or the lease expires. Release a stretch when done with it.
        """
        with self._database.read_transaction() as connection:
            ended = claims.dead_workers(connection)
            alive = self._presumed_alive(claims.running_workers(connection))
        with self._database.write_transaction() as connection:
            if ended:
                claims.forget_workers(connection, ended)
            claims.renew_lease(connection, worker, lease=self._lease)
            return claims.claim_stretch(connection, id, worker, in_order=in_order, presumed_alive=alive)

    def _presumed_alive(self, running: Mapping[str, float | None]) -> list[str]:
        """These workers, but for those whose leases were seen expired for long, by a clock that does not jump."""
        now = time.monotonic()
        expired = [(worker, end) for worker, end in running.items() if end is not None]
        self._expired = {one: self._expired.get(one, now) for one in expired}
        grace = min(self._lease, _GRACE_SECONDS)
        lost = {worker for (worker, _), first_seen in self._expired.items() if now - first_seen >= grace}
        return [worker for worker in running if worker not in lost]

    def renew(self, worker: JobWorker) -> set[tuple[str, int]]:
        """Renew the lease of the worker and return the stretches it still holds, as job and number.

        Claimed stretches that are missing were taken over by others, or have nothing left to do.
        """
        with self._database.write_transaction() as connection:
            claims.renew_lease(connection, worker, lease=self._lease)
            return claims.held_stretches(connection, worker)

    def release(self, worker: JobWorker, stretch: Stretch | None = None) -> None:
        """Release one stretch, or all of them when the worker ends."""
        with self._database.write_transaction() as connection:
            claims.release_claims(connection, worker, stretch)

    def save(self, stretch: Stretch, paragraph_id: str, result: PostEdit, *, seconds: float) -> bool:
        """Save the result durably; True on success.

        False, with nothing changed, where the claim is lost, or the paragraph already has a result or has changed.
        """
        row = _row(stretch, paragraph_id)
        try:
            with self._database.prepared_transaction() as transaction:
                claims.save_result(transaction, stretch, row, result, seconds=seconds)
        except claims.ClaimLost:
            return False
        return True

    def fail(self, stretch: Stretch, paragraph_id: str, reason: str, *, max_failures: int) -> ParagraphState:
        """Count a failure and return the state of the paragraph: quarantined after `max_failures`.

        Counts nothing where `save` would return False.
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
        """The counts of the job. Cheap enough to call every second."""
        with self._database.read_transaction() as connection:
            return queries.count_paragraphs(connection, id)

    def active_workers(self, id: str) -> int:
        """The number of active workers; one that died on another machine counts until its lease expires."""
        with self._database.read_transaction() as connection:
            ended = claims.dead_workers(connection)
        if ended:
            with self._database.write_transaction() as connection:
                claims.forget_workers(connection, ended)
        with self._database.read_transaction() as connection:
            return queries.count_active_workers(connection, id)

    def chapters(self, id: str) -> list[ChapterCounts]:
        """The counts by chapter, in order. Cheap as well."""
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
        """Iterate over the paragraphs in book order, in batches."""
        return queries.select_job_paragraphs(self._database, id, state=state, decision=decision, chapter=chapter)

    def new_texts(self, id: str) -> NewText:
        """A callable that returns the new text of a paragraph, or None. Fast in book order."""
        return queries.NewTexts(self._database, id)

    def rate(self, model: str) -> ModelRate | None:
        """The recent speed of a model in any job; None where it has no results."""
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
    """Write the job as planned, even where another process has removed it meanwhile."""
    if job is None:
        return
    insert = upsert(connection, jobs).values(_job_columns(job()))
    new = {column.key: insert.excluded[column.key] for column in jobs.c if column.key not in _STAYS}
    connection.execute(insert.on_conflict_do_update(index_elements=["id"], set_=new | {"updated": DatabaseTime()}))


def _job_columns(job: Job) -> dict[str, Any]:
    values = {field.name: getattr(job, field.name) for field in fields(job)}
    return values | {
        "recipe": job.recipe.to_json(),
        "created": job.created.timestamp(),
        "updated": job.updated.timestamp(),
    }


def _to_job(row: RowMapping) -> Job:
    values: dict[str, Any] = {column.key: row[column] for column in jobs.c if column in row}
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

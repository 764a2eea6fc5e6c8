"""Storage of batches and their files in the job store's database: one transaction for each answer.

A batch is worked on by one process at a time, which holds it by the lease of a worker, as stretches of books are held.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, Self

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    Table,
    and_,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)

from ape.errors import Conflict, UnknownBatch
from ape.jobs.batch import Batch, BatchAnswer, BatchError, BatchFile, BatchState
from ape.jobs.claims import dead_workers, forget_workers, renew_lease
from ape.jobs.database import Database
from ape.jobs.leases import JobWorker
from ape.jobs.plan_update import upsert
from ape.jobs.schema import migrate
from ape.jobs.tables import DatabaseTime, batch_answers, batch_files, batches, workers

LEASE_SECONDS = 60.0
_OVER = [state.value for state in BatchState if state.is_over]
_PAGE = 1000


class BatchStore:
    """Batches, files and answers. `url` is as for the job store. Safe for concurrent threads and processes."""

    def __init__(self, url: str, *, timeout_seconds: float = 30.0) -> None:
        self._database = Database(url, timeout_seconds=timeout_seconds)
        try:
            migrate(self._database)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Files.

    def add_file(self, file: BatchFile) -> None:
        """Record a file whose content is in its place."""
        with self._database.write_transaction() as connection:
            connection.execute(upsert(connection, batch_files).values(**asdict(file)).on_conflict_do_nothing())

    def file(self, id: str, owner: str) -> BatchFile:
        """Find a file of that owner, or raise UnknownBatch."""
        with self._database.read_transaction() as connection:
            return BatchFile(**_one(connection, batch_files, id, owner, "file"))

    def files(self, owner: str, *, limit: int, after: str | None = None, purpose: str | None = None) -> list[BatchFile]:
        """The owner's files, newest first, after that one."""
        with self._database.read_transaction() as connection:
            where = batch_files.c.purpose == purpose if purpose else None
            return [BatchFile(**row) for row in _page(connection, batch_files, owner, limit, after, where)]

    def remove_file(self, id: str, owner: str) -> None:
        """Forget a file. Raises Conflict while a batch still reads it."""
        unfinished = select(batches.c.id).where(batches.c.input_file == id, batches.c.state.not_in(_OVER)).limit(1)
        with self._database.write_transaction() as connection:
            _one(connection, batch_files, id, owner, "file")
            if batch := connection.scalar(unfinished):
                raise Conflict(f"The batch {batch} reads this file. Cancel it first, or wait until it is completed.")
            connection.execute(delete(batch_files).where(batch_files.c.id == id))

    def stored_bytes(self, owner: str) -> int:
        """The bytes of all files of that owner."""
        query = select(func.coalesce(func.sum(batch_files.c.size), 0)).where(batch_files.c.owner == owner)
        with self._database.read_transaction() as connection:
            return int(connection.scalar(query) or 0)

    # Batches.

    def add(self, batch: Batch) -> None:
        """Record a new batch."""
        with self._database.write_transaction() as connection:
            connection.execute(batches.insert().values(**_columns(asdict(batch))))

    def batch(self, id: str, owner: str | None = None) -> Batch:
        """Find a batch of that owner, or raise UnknownBatch."""
        with self._database.read_transaction() as connection:
            return _to_batch(_one(connection, batches, id, owner, "batch"))

    def batches(self, owner: str, *, limit: int, after: str | None = None) -> list[Batch]:
        """The owner's batches, newest first, after that one."""
        with self._database.read_transaction() as connection:
            return [_to_batch(row) for row in _page(connection, batches, owner, limit, after)]

    def unfinished(self, owner: str | None = None) -> list[Batch]:
        """All batches that are not over, oldest first, optionally of one owner."""
        query = (
            select(*_record_columns(batches))
            .where(batches.c.state.not_in(_OVER))
            .order_by(batches.c.created, batches.c.id)
        )
        if owner is not None:
            query = query.where(batches.c.owner == owner)
        with self._database.read_transaction() as connection:
            rows = connection.execute(query.order_by(batches.c.created, batches.c.id)).mappings()
            return [_to_batch(row) for row in rows]

    def move(self, id: str, state: BatchState, *, allowed: set[BatchState], **changes: Any) -> Batch | None:
        """Move a batch to another state and note the time; None where it is in none of the allowed ones."""
        with self._database.write_transaction() as connection:
            now = _to_batch(_one(connection, batches, id, None, "batch", lock=True))
            if now.state not in allowed:
                return None
            values = _columns({**changes, "state": state, "times": {**now.times, state.value: time.time()}})
            connection.execute(update(batches).where(batches.c.id == id).values(**values))
            return _to_batch(_one(connection, batches, id, None, "batch"))

    def cancel(self, id: str, owner: str) -> Batch:
        """Ask for the end of a batch. Raises Conflict where it is over."""
        batch = self.batch(id, owner)
        running = {BatchState.VALIDATING, BatchState.IN_PROGRESS, BatchState.FINALIZING}
        if moved := self.move(id, BatchState.CANCELLING, allowed=running):
            return moved
        if (batch := self.batch(id, owner)).state is BatchState.CANCELLING:
            return batch
        raise Conflict(f"The batch is {batch.state}: there is nothing to cancel.")

    # Work.

    def claim(self, id: str, worker: JobWorker) -> bool:
        """Hold the batch, unless another living worker holds it. Renews the worker's lease."""
        alive = exists().where(workers.c.id == batches.c.worker, workers.c.expires > DatabaseTime())
        ours = or_(batches.c.worker.is_(None), batches.c.worker == worker.id, ~alive)
        with self._database.write_transaction() as connection:
            forget_workers(connection, dead_workers(connection))
            renew_lease(connection, worker, lease=LEASE_SECONDS)
            claimed = update(batches).where(and_(batches.c.id == id, ours)).values(worker=worker.id)
            return connection.execute(claimed).rowcount == 1

    def release(self, worker: JobWorker) -> None:
        """Give back all batches of the worker, and forget it."""
        with self._database.write_transaction() as connection:
            connection.execute(update(batches).where(batches.c.worker == worker.id).values(worker=None))
            forget_workers(connection, [worker.id])

    def save(self, id: str, answer: BatchAnswer, worker: JobWorker) -> bool:
        """Store the answer to a line and count it; False where the batch is held by another worker by now."""
        counted = batches.c.completed if answer.status == 200 else batches.c.failed
        with self._database.write_transaction() as connection:
            held = and_(batches.c.id == id, batches.c.worker == worker.id)
            if connection.execute(update(batches).where(held).values({counted: counted + 1})).rowcount != 1:
                return False
            connection.execute(upsert(connection, batch_answers).values(batch=id, **asdict(answer)))
            return True

    def answered_lines(self, id: str) -> set[int]:
        """The lines that have an answer."""
        with self._database.read_transaction() as connection:
            return set(connection.scalars(select(batch_answers.c.line).where(batch_answers.c.batch == id)))

    def answers(self, id: str) -> Iterator[BatchAnswer]:
        """The answers in the order of lines, read in pages."""
        columns = [batch_answers.c[field.name] for field in fields(BatchAnswer)]
        last = -1
        while True:
            query = select(*columns).where(batch_answers.c.batch == id, batch_answers.c.line > last)
            with self._database.read_transaction() as connection:
                page = list(connection.execute(query.order_by(batch_answers.c.line).limit(_PAGE)))
            yield from (BatchAnswer(*row) for row in page)
            if len(page) < _PAGE:
                return
            last = page[-1].line


def _record_columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.c if column.name != "worker"]


def _one(
    connection: Connection, table: Table, id: str, owner: str | None, what: str, *, lock: bool = False
) -> RowMapping:
    query = select(*_record_columns(table)).where(table.c.id == id)
    row = connection.execute(query.with_for_update() if lock else query).mappings().one_or_none()
    if row is None or owner not in (None, row["owner"]):
        raise UnknownBatch(f"There is no {what} {id!r}.")
    return row


def _page(
    connection: Connection,
    table: Table,
    owner: str,
    limit: int,
    after: str | None,
    where: ColumnElement[bool] | None = None,
) -> list[RowMapping]:
    query = select(*_record_columns(table)).where(table.c.owner == owner)
    if where is not None:
        query = query.where(where)
    if after is not None:
        last = _one(connection, table, after, owner, table.name)
        older = and_(table.c.created == last["created"], table.c.id > after)
        query = query.where(or_(table.c.created < last["created"], older))
    ordered = query.order_by(table.c.created.desc(), table.c.id).limit(limit)
    return list(connection.execute(ordered).mappings())


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: json.dumps(value) if name in ("notes", "errors", "times") else value for name, value in values.items()
    }


def _to_batch(row: RowMapping) -> Batch:
    read = {name: json.loads(row[name]) for name in ("notes", "errors", "times")}
    errors = tuple(BatchError(**error) for error in read.pop("errors"))
    return Batch(**{**row, **read, "errors": errors, "state": BatchState(row["state"])})

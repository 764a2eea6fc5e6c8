"""Claim stretches, write results into them while the claim holds, and release them.

Every statement that changes a paragraph first updates its stretch, on condition that the claim still holds. So of two
workers that believe to hold a stretch only one can write, and no paragraph gets two results.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, exists, insert, or_, select, update

from ape.errors import UnknownJob
from ape.jobs.database import PreparedStatement, PreparedTransaction
from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.jobs.leases import JobWorker, Stretch, has_ended, this_host
from ape.jobs.plan_update import upsert
from ape.jobs.result_rows import count_words, read_paragraph, read_planned, result_columns, select_paragraphs
from ape.jobs.tables import DatabaseTime, jobs, paragraphs, results, stretches, workers
from ape.passage.result import Decision, PostEdit

_A_DAY = 86_400.0


def dead_workers(connection: Connection) -> list[str]:
    """The workers on this machine whose processes have ended."""
    query = select(workers).where(workers.c.host == this_host())
    known = [JobWorker(row.id, row.host, row.pid, row.started) for row in connection.execute(query)]
    return sorted(worker.id for worker in known if has_ended(worker))


def running_workers(connection: Connection) -> dict[str, float | None]:
    """The workers on this machine whose processes run, each with the end of its lease if that is over.

    After a jump of the clock all leases look expired; a process that works renews its own within a second or two.
    """
    query = select(workers, (workers.c.expires <= DatabaseTime()).label("is_over"))
    known = [
        (JobWorker(row.id, row.host, row.pid, row.started), row.expires if row.is_over else None)
        for row in connection.execute(query.where(workers.c.host == this_host()))
    ]
    return {worker.id: expired for worker, expired in known if not has_ended(worker)}


def forget_workers(connection: Connection, ids: list[str]) -> None:
    """Delete dead workers and free their stretches."""
    connection.execute(delete(workers).where(workers.c.id.in_(ids)))


def renew_lease(connection: Connection, worker: JobWorker, *, lease: float) -> None:
    """Extend the lease of the worker."""
    entry = upsert(connection, workers).values(
        id=worker.id, host=worker.host, pid=worker.pid, started=worker.started, expires=DatabaseTime() + lease
    )
    connection.execute(entry.on_conflict_do_update(index_elements=["id"], set_={"expires": entry.excluded.expires}))


def claim_stretch(
    connection: Connection, job: str, worker: JobWorker, *, in_order: bool = False, presumed_alive: Sequence[str] = ()
) -> Stretch | None:
    """Claim a waiting stretch that no living worker holds: the heaviest, or the first of the book if `in_order`.

    `presumed_alive` are workers that are taken as living though their leases have expired.
    """
    # On PostgreSQL this waits for who plans the job anew, and has all its stretches locked.
    recipe = connection.scalar(select(jobs.c.recipe).where(jobs.c.id == job).with_for_update(read=True))
    if recipe is None:
        raise UnknownJob(f"There is no job {job!r}.")
    is_living = or_(workers.c.expires > DatabaseTime(), workers.c.id.in_(presumed_alive))
    alive = exists().where(workers.c.id == stretches.c.worker, is_living)
    order = (stretches.c.number,) if in_order else (stretches.c.words_waiting.desc(), stretches.c.number)
    number = connection.scalar(
        select(stretches.c.number)
        .where(stretches.c.job == job, stretches.c.words_waiting > 0, or_(stretches.c.worker.is_(None), ~alive))
        .order_by(*order)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if number is None:
        return None
    turn = connection.scalar(
        update(stretches)
        .where(stretches.c.job == job, stretches.c.number == number)
        .values(worker=worker.id, turn=stretches.c.turn + 1)
        .returning(stretches.c.turn)
    )
    assert turn is not None
    rows = _rows(connection, job, number)
    before = _before(connection, job, rows[0].planned, json.loads(recipe)["context"])
    return Stretch(job, number, worker.id, turn, rows, before)


def held_stretches(connection: Connection, worker: JobWorker) -> set[tuple[str, int]]:
    """The stretches that the worker holds, as job and number."""
    query = select(stretches.c.job, stretches.c.number).where(stretches.c.worker == worker.id)
    return set(connection.execute(query))


def release_claims(connection: Connection, worker: JobWorker, stretch: Stretch | None) -> None:
    """Release one stretch, or all of them with the worker."""
    free = update(stretches).where(stretches.c.worker == worker.id).values(worker=None)
    if stretch is not None:
        connection.execute(
            free.where(
                stretches.c.job == stretch.job, stretches.c.number == stretch.number, stretches.c.turn == stretch.turn
            )
        )
        return
    # In the order in which everybody locks them.
    theirs = select(stretches.c.job).where(stretches.c.worker == worker.id)
    connection.execute(theirs.order_by(stretches.c.job, stretches.c.number).with_for_update()).all()
    connection.execute(free)
    connection.execute(
        delete(workers).where(or_(workers.c.id == worker.id, workers.c.expires < DatabaseTime() - _A_DAY))
    )


class ClaimLost(Exception):
    """The claim is over, or the paragraph has changed. The transaction is rolled back."""


def save_result(
    transaction: PreparedTransaction, stretch: Stretch, row: JobParagraph, result: PostEdit, *, seconds: float
) -> None:
    """Store the result. Raises ClaimLost unless the claim holds and the paragraph still waits."""
    columns = result_columns(result)
    claim = _claim_values(stretch, row)
    decisions = {one.value: int(result.decision is one) for one in Decision}
    tokens = {"read": columns["prompt_tokens"], "written": columns["completion_tokens"]}
    if transaction.change(_COUNT_RESULT, claim | decisions | tokens) != 1:
        raise ClaimLost
    waiting = _paragraph_values(stretch, row) | {"decided": columns["decision"]}
    if transaction.change(_FINISH, waiting) != 1:
        raise ClaimLost
    key = {"job": stretch.job, "fingerprint": row.planned.fingerprint, "paragraph": row.planned.id}
    transaction.change(_KEEP, columns | key | {"seconds": seconds, "worker": stretch.worker})


def record_failure(
    connection: Connection, stretch: Stretch, row: JobParagraph, reason: str, *, max_failures: int
) -> ParagraphState:
    """Count a failure; the last one quarantines the paragraph. Raises ClaimLost as `save_result` does."""
    _change(connection, _STILL_OURS, _claim_values(stretch, row))
    state = connection.scalar(_COUNT_FAILURE, _paragraph_values(stretch, row) | {"said": reason, "most": max_failures})
    if state is None:
        raise ClaimLost
    if state == ParagraphState.QUARANTINED:
        _change(connection, _COUNT_QUARANTINED, _claim_values(stretch, row))
    return ParagraphState(state)


def paragraph_state(connection: Connection, job: str, paragraph: str) -> ParagraphState | None:
    """The state of the paragraph; None where it is no longer in the book."""
    state = connection.scalar(select(paragraphs.c.state).where(paragraphs.c.job == job, paragraphs.c.id == paragraph))
    return ParagraphState(state) if state is not None else None


def _change(connection: Connection, statement: Any, values: dict[str, Any]) -> None:
    if connection.execute(statement, values).rowcount != 1:
        raise ClaimLost


def _claim_values(stretch: Stretch, row: JobParagraph) -> dict[str, Any]:
    return {
        "of_job": stretch.job,
        "this": stretch.number,
        "mine": stretch.worker,
        "in_turn": stretch.turn,
        "some": count_words(row.planned.mt),
    }


def _paragraph_values(stretch: Stretch, row: JobParagraph) -> dict[str, Any]:
    planned = row.planned
    return {"of_job": stretch.job, "this": planned.id, "known": planned.fingerprint, "within": stretch.number}


def _rows(connection: Connection, job: str, number: int) -> tuple[JobParagraph, ...]:
    query = select_paragraphs().where(paragraphs.c.job == job, paragraphs.c.stretch == number)
    found = connection.execute(query.order_by(paragraphs.c.position)).mappings()
    return tuple(map(read_paragraph, found))


def _before(connection: Connection, job: str, first: PlannedParagraph, count: int) -> tuple[PlannedParagraph, ...]:
    query = select(paragraphs).where(
        paragraphs.c.job == job, paragraphs.c.position < first.position, paragraphs.c.skip == ""
    )
    found = connection.execute(query.order_by(paragraphs.c.position.desc()).limit(count)).mappings()
    # Not part of the query: at the beginning of a chapter it would scan all the book before.
    return tuple(read_planned(row) for row in found if row["chapter"] == first.chapter)[::-1]


# Made once: a statement takes longer to build than SQLite takes to run it.

_CLAIMED = (
    stretches.c.job == bindparam("of_job"),
    stretches.c.number == bindparam("this"),
    stretches.c.worker == bindparam("mine"),
    stretches.c.turn == bindparam("in_turn"),
)
# A stretch with nothing left to do is nobody's: should one of its paragraphs be redone, anyone may take it.
_LESS_WAITING: dict[str, Any] = {
    "waiting": stretches.c.waiting - 1,
    "words_waiting": stretches.c.words_waiting - bindparam("some"),
    "worker": case((stretches.c.waiting > 1, stretches.c.worker), else_=None),
}
_STILL_OURS = update(stretches).where(*_CLAIMED).values(turn=stretches.c.turn)
_COUNT_RESULT = PreparedStatement(
    update(stretches)
    .where(*_CLAIMED)
    .values(
        **_LESS_WAITING,
        **{one.value: stretches.c[one.value] + bindparam(one.value) for one in Decision},
        words_done=stretches.c.words_done + bindparam("some"),
        prompt_tokens=stretches.c.prompt_tokens + bindparam("read"),
        completion_tokens=stretches.c.completion_tokens + bindparam("written"),
    )
)
_COUNT_QUARANTINED = update(stretches).where(*_CLAIMED).values(**_LESS_WAITING, quarantined=stretches.c.quarantined + 1)
_UNCHANGED = (
    paragraphs.c.job == bindparam("of_job"),
    paragraphs.c.id == bindparam("this"),
    paragraphs.c.fingerprint == bindparam("known"),
    paragraphs.c.stretch == bindparam("within"),
    paragraphs.c.state == ParagraphState.WAITING.value,
)
_FINISH = PreparedStatement(
    update(paragraphs)
    .where(*_UNCHANGED)
    .values(state=ParagraphState.DONE.value, decision=bindparam("decided"), reason="")
)
_COUNT_FAILURE = (
    update(paragraphs)
    .where(*_UNCHANGED)
    .values(
        failures=paragraphs.c.failures + 1,
        reason=bindparam("said"),
        state=case(
            (paragraphs.c.failures + 1 >= bindparam("most"), ParagraphState.QUARANTINED.value),
            else_=ParagraphState.WAITING.value,
        ),
    )
    .returning(paragraphs.c.state)
)
_RESULT = [column.name for column in results.c]
_KEEP = PreparedStatement(
    insert(results).values(
        {name: bindparam(name) for name in _RESULT if name not in ("retired", "created")}
        | {"retired": 0, "created": DatabaseTime()}
    )
)

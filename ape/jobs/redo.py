"""Reset paragraphs to waiting, or give them another result; earlier results stay as history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, insert, select, update

from ape.errors import Conflict, InputError
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.plan_update import recount_stretches
from ape.jobs.result_rows import result_columns
from ape.jobs.tables import DatabaseTime, paragraphs, results
from ape.passage.result import Decision, PostEdit

_BATCH = 500
_NAMED = 5


def redo_paragraphs(connection: Connection, job: str, *, ids: Sequence[str], rejected: bool, quarantined: bool) -> int:
    """Reset the paragraphs and return how many. The caller holds the lock of the job."""
    conditions: list[ColumnElement[bool]] = []
    for batch in (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)):
        _refuse_others(connection, job, batch)
        conditions.append(paragraphs.c.id.in_(batch))
    if rejected:
        conditions.append(paragraphs.c.decision == Decision.REJECTED)
    if quarantined:
        conditions.append(paragraphs.c.state == ParagraphState.QUARANTINED)
    count = sum(_wait_again(connection, job, condition) for condition in conditions)
    if count:
        recount_stretches(connection, job)
    return count


def _refuse_others(connection: Connection, job: str, ids: Sequence[str]) -> None:
    query = select(paragraphs.c.id, paragraphs.c.skip).where(paragraphs.c.job == job, paragraphs.c.id.in_(ids))
    there = dict(connection.execute(query).all())
    if unknown := [one for one in ids if one not in there]:
        raise InputError(f"The book has no paragraph {_names(unknown)}.", field="paragraphs")
    if skipped := [one for one in ids if there[one]]:
        raise InputError(
            f"{_names(skipped)} can't be redone, because it is not edited: {there[skipped[0]]}", field="paragraphs"
        )


def _names(ids: Sequence[str]) -> str:
    named = ", ".join(map(repr, ids[:_NAMED]))
    return f"{named} and {len(ids) - _NAMED} more" if len(ids) > _NAMED else named


def _wait_again(connection: Connection, job: str, condition: ColumnElement[bool]) -> int:
    these = and_(
        paragraphs.c.job == job, paragraphs.c.state.in_([ParagraphState.DONE, ParagraphState.QUARANTINED]), condition
    )
    _retire(connection, these)
    waiting: dict[str, Any] = {"state": ParagraphState.WAITING, "decision": "", "reason": "", "failures": 0}
    return connection.execute(update(paragraphs).where(these).values(waiting)).rowcount


def _retire(connection: Connection, these: ColumnElement[bool]) -> None:
    """Move the results of these paragraphs behind the older ones of the same key."""
    older = results.alias()
    number = (
        select(func.max(older.c.retired) + 1)
        .where(
            older.c.job == results.c.job,
            older.c.fingerprint == results.c.fingerprint,
            older.c.paragraph == results.c.paragraph,
        )
        .scalar_subquery()
    )
    mine = select(paragraphs.c.id).where(
        these,
        paragraphs.c.job == results.c.job,
        paragraphs.c.id == results.c.paragraph,
        paragraphs.c.fingerprint == results.c.fingerprint,
    )
    connection.execute(update(results).where(results.c.retired == 0, mine.exists()).values(retired=number))


def replace_result(connection: Connection, job: str, paragraph: str, result: PostEdit, *, seconds: float) -> None:
    """Give a paragraph another result; the present one stays as history. The caller holds the lock of the job."""
    these = and_(paragraphs.c.job == job, paragraphs.c.id == paragraph)
    _retire(connection, these)
    fingerprint = connection.scalar(select(paragraphs.c.fingerprint).where(these))
    values = {"job": job, "paragraph": paragraph, "fingerprint": fingerprint, "retired": 0, "worker": ""}
    columns = values | {"seconds": seconds, **result_columns(result)}
    connection.execute(insert(results).values(created=DatabaseTime(), **columns))
    _mark_done(connection, job, these, result.decision)


def restore_result(connection: Connection, job: str, paragraph: str, passage: str) -> None:
    """Make an earlier result the present one again. An empty `passage` means that there was none."""
    these = and_(paragraphs.c.job == job, paragraphs.c.id == paragraph)
    if not passage:
        _wait_again(connection, job, paragraphs.c.id == paragraph)
        recount_stretches(connection, job)
        return
    _retire(connection, these)
    fingerprint = select(paragraphs.c.fingerprint).where(these).scalar_subquery()
    of_it = and_(results.c.job == job, results.c.paragraph == paragraph, results.c.fingerprint == fingerprint)
    earlier = and_(of_it, results.c.passage == passage)
    decision = connection.scalar(select(results.c.decision).where(earlier))
    if decision is None:
        raise Conflict("The earlier version belongs to other names or another text of this paragraph.")
    connection.execute(update(results).where(earlier).values(retired=0))
    _mark_done(connection, job, these, Decision(decision))


def _mark_done(connection: Connection, job: str, these: ColumnElement[bool], decision: Decision) -> None:
    done: dict[str, Any] = {"state": ParagraphState.DONE, "decision": decision, "reason": "", "failures": 0}
    connection.execute(update(paragraphs).where(these).values(done))
    recount_stretches(connection, job)

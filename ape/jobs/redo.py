"""Reset paragraphs to waiting; their results stay as history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, select, update

from ape.errors import InputError
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.plan_update import recount_stretches
from ape.jobs.tables import paragraphs, results
from ape.passage.result import Decision

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

"""The log of a review: every decision with author, time, and the states before and after it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from ape.jobs.tables import DatabaseTime, jobs, review_log
from ape.review.decisions import ReviewAction
from ape.review.paragraph import ReviewComment, ReviewParagraph, to_time
from ape.review.state import ReviewState

_BATCH = 500
_MAX_HISTORY = 1_000


@dataclass(frozen=True, slots=True)
class ReviewLogEntry:
    """One decision on one paragraph. Entries of one `batch` are undone together.

    `result` is the id of the result that it speaks of. `before` and `after` are stored states.
    """

    id: int
    paragraph: str
    batch: str
    action: ReviewAction
    author: str
    at: datetime
    detail: dict[str, Any]
    result: str
    before: str
    after: str
    undone: bool


@dataclass(frozen=True)
class NewLogEntry:
    """A decision to be logged."""

    known: ReviewParagraph
    action: ReviewAction
    after: ReviewState
    detail: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def before_json(self) -> str:
        """The state before, as stored."""
        return self.known.state.to_json()

    @cached_property
    def after_json(self) -> str:
        """The state after, as stored."""
        return self.after.to_json()

    @cached_property
    def detail_json(self) -> str:
        """The details, as stored."""
        return json.dumps(self.detail, ensure_ascii=False)

    @property
    def length(self) -> int:
        """The characters that the entry takes."""
        return len(self.before_json) + len(self.after_json) + len(self.detail_json)


def add_entries(connection: Connection, job: str, batch: str, author: str, entries: Iterable[NewLogEntry]) -> None:
    """Log the entries of one batch."""
    rows = [
        {
            "job": job,
            "paragraph": one.known.id,
            "batch": batch,
            "action": one.action.value,
            "author": author,
            "detail": one.detail_json,
            "result": one.known.result_id,
            "before": one.before_json,
            "after": one.after_json,
            "undone": 0,
        }
        for one in entries
    ]
    connection.execute(insert(review_log).values({"at": DatabaseTime()}), rows)


def entries_of_paragraph(connection: Connection, job: str, paragraph: str) -> list[ReviewLogEntry]:
    """The history of a paragraph, newest first, without what is long ago in a very long one."""
    query = select(review_log).where(review_log.c.job == job, review_log.c.paragraph == paragraph)
    newest = query.order_by(review_log.c.id.desc()).limit(_MAX_HISTORY)
    return [_entry(row) for row in connection.execute(newest).mappings()]


def entries_after(connection: Connection, job: str, last: int, limit: int) -> list[ReviewLogEntry]:
    """The entries of a job after one, oldest first."""
    query = select(review_log).where(review_log.c.job == job, review_log.c.id > last)
    return [_entry(row) for row in connection.execute(query.order_by(review_log.c.id).limit(limit)).mappings()]


def last_entry(connection: Connection, job: str) -> int:
    """The id of the last entry, 0 if there is none."""
    return int(connection.scalar(select(func.max(review_log.c.id)).where(review_log.c.job == job)) or 0)


def stored_characters(connection: Connection, owner: str) -> int:
    """The length of the logs of all jobs of an owner."""
    length = func.length(review_log.c.detail) + func.length(review_log.c.before) + func.length(review_log.c.after)
    query = select(func.coalesce(func.sum(length), 0)).join(jobs, jobs.c.id == review_log.c.job)
    return int(connection.scalar(query.where(jobs.c.owner == owner)) or 0)


def batch_to_undo(connection: Connection, job: str, author: str, batch: str | None) -> list[ReviewLogEntry]:
    """The entries of the batch, or of the author's last one that is not undone."""
    query = select(review_log).where(
        review_log.c.job == job,
        review_log.c.author == author,
        review_log.c.undone == 0,
        review_log.c.action != ReviewAction.UNDO.value,
    )
    if batch is None:
        last = connection.execute(query.order_by(review_log.c.id.desc()).limit(1)).mappings().one_or_none()
        batch = last["batch"] if last else ""
    rows = connection.execute(query.where(review_log.c.batch == batch).order_by(review_log.c.id)).mappings()
    return [_entry(row) for row in rows]


def mark_undone(connection: Connection, job: str, batch: str) -> None:
    """Note that the entries of a batch no longer count."""
    connection.execute(
        update(review_log).where(review_log.c.job == job, review_log.c.batch == batch).values(undone=1)
    )  # fmt: skip


def comments_of(connection: Connection, job: str, ids: Sequence[str] | None = None) -> dict[str, list[ReviewComment]]:
    """The comments by paragraph, of these paragraphs or of all."""
    query = select(review_log).where(
        review_log.c.job == job, review_log.c.action == ReviewAction.COMMENT.value, review_log.c.undone == 0
    )
    found: dict[str, list[ReviewComment]] = {}
    for part in _batches(ids):
        chosen = query if part is None else query.where(review_log.c.paragraph.in_(part))
        for row in connection.execute(chosen.order_by(review_log.c.id)).mappings():
            entry = _entry(row)
            comment = ReviewComment(entry.id, entry.author, entry.at, entry.detail["text"])
            found.setdefault(entry.paragraph, []).append(comment)
    return found


def _batches(ids: Sequence[str] | None) -> Iterator[Sequence[str] | None]:
    if ids is None:
        yield None
        return
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]


def _entry(row: RowMapping) -> ReviewLogEntry:
    values = {name: row[name] for name in ("id", "paragraph", "batch", "author", "result", "before", "after")}
    return ReviewLogEntry(
        **values,
        action=ReviewAction(row["action"]),
        at=to_time(row["at"]),
        detail=json.loads(row["detail"]),
        undone=bool(row["undone"]),
    )

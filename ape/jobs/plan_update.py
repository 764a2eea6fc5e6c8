"""Store a plan: unchanged paragraphs keep their results, the rest wait or reuse earlier results.

The plan is streamed into a temporary table, which takes as long as reading the book and locks nobody out. A few
statements then compare it with the stored paragraphs, in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, astuple
from itertools import islice
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    and_,
    case,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from ape.errors import InputError, UnknownJob
from ape.jobs.counts import COUNT_NAMES, PlanChanges
from ape.jobs.database import Database
from ape.jobs.job_paragraph import ParagraphState, PlannedParagraph
from ape.jobs.result_rows import PLANNED_COLUMNS, count_words, join_current_result, join_result
from ape.jobs.tables import ExactText, jobs, paragraphs, results, stretches
from ape.passage.result import Decision

_BATCH = 500
_NUMBERS = ("position", "chapter", "stretch", "words")
_FROM_PLAN = (*PLANNED_COLUMNS, "words")

staged_paragraphs = Table(
    "ape_staged",
    MetaData(),
    *(
        Column(name, Double if name == "confidence" else Integer if name in _NUMBERS else ExactText, nullable=False)
        for name in _FROM_PLAN
    ),
    Column("kind", ExactText),
    Index("ape_staged_by_id", "id"),
    prefixes=["TEMPORARY"],
)


def upsert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An insert with ON CONFLICT for this database."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def update_plan(
    database: Database, job: str, rows: Iterable[PlannedParagraph], *, first: Callable[[Connection], None]
) -> PlanChanges:
    """Stage the rows, then run `first`, compare and update, in one transaction."""
    with database.staging_transaction() as connection:
        _stage(connection, rows)
        try:
            with database.write_on(connection):
                first(connection)
                lock_job(connection, job)
                found = _merge(connection, job)
        finally:
            staged_paragraphs.drop(connection)
            connection.commit()
        if found.kept != sum(astuple(found)):
            _analyse(connection)
    return found


def lock_job(connection: Connection, job: str) -> None:
    """Lock the job until the transaction ends. SQLite has one writer anyway.

    All callers lock in the same order: the job, its stretches, then the rest.
    """
    # Weaker than FOR UPDATE, for which a worker that saves a result of this job, and holds its stretch, would wait.
    known = connection.scalar(select(jobs.c.id).where(jobs.c.id == job).with_for_update(key_share=True))
    if known is None:
        raise UnknownJob(f"There is no job {job!r}.")
    held = select(stretches.c.number).where(stretches.c.job == job).order_by(stretches.c.number)
    if connection.dialect.name != "sqlite":
        connection.execute(held.with_for_update()).all()


def recount_stretches(connection: Connection, job: str) -> None:
    """Recompute the stretches and their sums from the paragraphs. Claims stay."""
    state, decision, words = paragraphs.c.state, paragraphs.c.decision, paragraphs.c.words

    def number(*conditions: Any, of: Any = 1) -> Any:
        return func.coalesce(func.sum(case((and_(*conditions), of), else_=0)), 0)

    sums = {
        "waiting": number(state == ParagraphState.WAITING),
        **{one.value: number(state == ParagraphState.DONE, decision == one) for one in Decision},
        "quarantined": number(state == ParagraphState.QUARANTINED),
        "skipped": number(state == ParagraphState.SKIPPED),
        "words": number(state != ParagraphState.SKIPPED, of=words),
        "words_done": number(state == ParagraphState.DONE, of=words),
        "words_waiting": number(state == ParagraphState.WAITING, of=words),
        "prompt_tokens": number(state == ParagraphState.DONE, of=results.c.prompt_tokens),
        "completion_tokens": number(state == ParagraphState.DONE, of=results.c.completion_tokens),
    }
    counted = (
        select(
            literal(job),
            paragraphs.c.stretch,
            func.min(paragraphs.c.chapter),
            func.min(paragraphs.c.title),
            literal(0),
            *(sums[name] for name in COUNT_NAMES),
        )
        .outerjoin_from(paragraphs, results, join_current_result())
        .where(paragraphs.c.job == job)
        .group_by(paragraphs.c.stretch)
    )
    columns = ("chapter", "title", *COUNT_NAMES)
    names = ["job", "number", "chapter", "title", "turn", *COUNT_NAMES]
    insert = upsert(connection, stretches).from_select(names, counted)
    connection.execute(
        insert.on_conflict_do_update(
            index_elements=["job", "number"], set_={name: insert.excluded[name] for name in columns}
        )
    )
    there = select(paragraphs.c.stretch).where(paragraphs.c.job == job)
    connection.execute(delete(stretches).where(stretches.c.job == job, stretches.c.number.not_in(there)))


def _stage(connection: Connection, rows: Iterable[PlannedParagraph]) -> None:
    staged_paragraphs.create(connection, checkfirst=False)
    checked = _checked(rows)
    while batch := [{**asdict(row), "words": count_words(row.mt)} for row in islice(checked, _BATCH)]:
        connection.execute(staged_paragraphs.insert(), batch)
    twice = connection.scalar(
        select(staged_paragraphs.c.id).group_by(staged_paragraphs.c.id).having(func.count() > 1).limit(1)
    )
    if twice is not None:
        raise InputError(f"Two paragraphs of the book have the id {twice!r}: results could not be distinguished.")
    if connection.dialect.name != "sqlite":
        connection.execute(text(f"ANALYZE {staged_paragraphs.name}"))
    connection.commit()


def _analyse(connection: Connection) -> None:
    """Update the planner statistics of PostgreSQL: without them it expects a handful of paragraphs, not thousands."""
    if connection.dialect.name != "sqlite":
        connection.execute(text(f"ANALYZE {paragraphs.name}, {stretches.name}, {results.name}"))
        connection.commit()


def _checked(rows: Iterable[PlannedParagraph]) -> Iterator[PlannedParagraph]:
    last = -1
    for row in rows:
        if row.position <= last:
            raise InputError(f"Paragraph {row.id!r} is out of order: {row.position} comes after {last}.")
        if not row.skip and not row.fingerprint:
            raise InputError(f"Paragraph {row.id!r} has no fingerprint: its result could not be recognised.")
        last = row.position
        yield row


def _merge(connection: Connection, job: str) -> PlanChanges:
    _compare(connection, job)
    kinds: dict[str | None, int] = dict(
        connection.execute(select(staged_paragraphs.c.kind, func.count()).group_by(staged_paragraphs.c.kind)).all()
    )
    _write_changes(connection, job)
    reused = _reuse_results(connection, job)
    here = select(staged_paragraphs.c.id)
    removed = connection.execute(
        delete(paragraphs).where(paragraphs.c.job == job, paragraphs.c.id.not_in(here))
    ).rowcount
    recount_stretches(connection, job)
    return PlanChanges(kinds.get("new", 0), kinds.get("kept", 0), kinds.get("changed", 0), removed, reused)


def _compare(connection: Connection, job: str) -> None:
    """Mark new, unchanged and changed paragraphs, and those that lose their result."""
    same = and_(
        paragraphs.c.fingerprint == staged_paragraphs.c.fingerprint,
        or_(
            and_(paragraphs.c.skip == "", staged_paragraphs.c.skip == ""),
            and_(paragraphs.c.skip != "", staged_paragraphs.c.skip != ""),
        ),
    )
    kind = (
        select(case((same, "kept"), else_="changed"))
        .where(paragraphs.c.job == job, paragraphs.c.id == staged_paragraphs.c.id)
        .scalar_subquery()
    )
    connection.execute(update(staged_paragraphs).values(kind=func.coalesce(kind, "new")))


def _write_changes(connection: Connection, job: str) -> None:
    """Write the paragraphs that differ from the plan; unchanged ones keep their state."""
    state = case((staged_paragraphs.c.skip != "", ParagraphState.SKIPPED), else_=ParagraphState.WAITING)
    fresh = select(
        literal(job),
        *(staged_paragraphs.c[name] for name in _FROM_PLAN),
        state,
        literal(""),
        staged_paragraphs.c.skip,
        literal(0),
    ).where(true())  # without a condition SQLite takes ON CONFLICT for the ON of a join
    columns = ["job", *_FROM_PLAN, "state", "decision", "reason", "failures"]
    insert = upsert(connection, paragraphs).from_select(columns, fresh)
    new = insert.excluded
    kept = and_(paragraphs.c.fingerprint == new.fingerprint, paragraphs.c.skip == "", new.skip == "")
    connection.execute(
        insert.on_conflict_do_update(
            index_elements=["job", "id"],
            set_={name: new[name] for name in _FROM_PLAN if name != "id"}
            | {
                name: case((kept, paragraphs.c[name]), else_=new[name])
                for name in ("state", "decision", "reason", "failures")
            },
            where=or_(*(paragraphs.c[name] != new[name] for name in _FROM_PLAN if name != "id")),
        )
    )


def _reuse_results(connection: Connection, job: str) -> int:
    """Give new and changed paragraphs an existing result for their fingerprint, their own or a moved one."""
    own = exists().where(
        results.c.job == job,
        results.c.fingerprint == staged_paragraphs.c.fingerprint,
        results.c.paragraph == staged_paragraphs.c.id,
        results.c.retired == 0,
    )
    names = [column.name for column in results.c]
    ranked = (
        select(
            staged_paragraphs.c.id.label("taker"),
            *results.c,
            func.row_number()
            .over(partition_by=staged_paragraphs.c.id, order_by=(results.c.created, results.c.paragraph))
            .label("place"),
        )
        .join_from(staged_paragraphs, results, results.c.fingerprint == staged_paragraphs.c.fingerprint)
        .where(
            results.c.job == job,
            results.c.retired == 0,
            staged_paragraphs.c.kind != "kept",
            staged_paragraphs.c.skip == "",
            ~own.correlate(staged_paragraphs),
        )
        .subquery()
    )
    first = select(*(ranked.c["taker" if name == "paragraph" else name] for name in names)).where(ranked.c.place == 1)
    connection.execute(results.insert().from_select(names, first))
    decision = select(results.c.decision).where(join_result()).correlate(paragraphs).scalar_subquery()
    done = update(paragraphs).where(
        paragraphs.c.job == job, paragraphs.c.state == ParagraphState.WAITING, decision.is_not(null())
    )
    return connection.execute(done.values(state=ParagraphState.DONE, decision=decision)).rowcount

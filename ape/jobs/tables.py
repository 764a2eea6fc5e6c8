"""The tables of the job store, and what both databases have to be told in words of their own.

    jobs ─┬─ paragraphs    what the book has and where each paragraph stands
          ├─ results       all that models made of them, by fingerprint; what was redone stays as history
          └─ stretches     runs of paragraphs that one worker does in order: who holds them, and their sums
    workers                who is at work, and until when we believe it
    trials ── raters ── votes    blind tests, who takes part, and what they said: one vote for an item and rater

A row of `stretches` is the lock of its paragraphs: whoever changes one of them changes its stretch first, so its sums
are always right and counting a job reads a few short rows.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

# What no database takes as text, and our own mark for text that is kept in another form: a character that never is one.
_ESCAPED = "\ufdd0"
_UNFIT = re.compile(f"[\x00\ud800-\udfff]|^{_ESCAPED}")


class ExactText(TypeDecorator[str]):
    """Text that comes back as it was given, also with a NUL or half a surrogate pair in it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """As it is, or as JSON where the database would refuse it."""
        return escape_text(value) if value is not None else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """The text that was given."""
        return json.loads(value[1:]) if value and value[0] == _ESCAPED else value


def escape_text(text: str) -> str:
    """The text in a form that any database takes."""
    if text.isascii() and "\x00" not in text:
        return text
    return _ESCAPED + json.dumps(text) if _UNFIT.search(text) else text


class DatabaseTime(FunctionElement[float]):
    """The time in seconds since 1970 by the clock of the database, the one clock that all who share it have."""

    inherit_cache = True
    type = Double()


@compiles(DatabaseTime, "sqlite")
def _now_sqlite(element: DatabaseTime, compiler: SQLCompiler, **_: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _now_postgresql(element: DatabaseTime, compiler: SQLCompiler, **_: Any) -> str:
    # Not now(): that is when the transaction began, before it waited for a lock.
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def _text(name: str) -> Column[str]:
    return Column(name, ExactText, nullable=False)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _of_job() -> Column[str]:
    return Column("job", ExactText, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False)


metadata = MetaData()

jobs = Table(
    "jobs",
    metadata,
    Column("id", ExactText, primary_key=True),
    _text("owner"),
    _text("name"),
    _text("source"),
    _text("source_hash"),
    _text("mt"),
    _text("mt_hash"),
    _text("output"),
    _text("output_hash"),
    _text("format"),
    _text("recipe"),
    _text("state"),
    _text("note"),
    _text("encoding"),
    _text("outcome"),
    Column("engine", ExactText, nullable=False, server_default=""),
    Column("unpaired", ExactText, nullable=False, server_default=""),
    Column("told", ExactText, nullable=False, server_default=""),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
    Index("jobs_by_owner", "owner", "created"),
)

paragraphs = Table(
    "paragraphs",
    metadata,
    _of_job(),
    _text("id"),
    _number("position"),
    _number("chapter"),
    _text("title"),
    _number("stretch"),
    _text("source"),
    _text("mt"),
    _text("how"),
    Column("confidence", Double, nullable=False),
    _text("skip"),
    _text("fingerprint"),
    _number("words"),
    _text("state"),
    _text("decision"),
    _text("reason"),
    _number("failures"),
    PrimaryKeyConstraint("job", "id"),
    Index("paragraphs_in_order", "job", "position"),
    Index("paragraphs_by_stretch", "job", "stretch", "position"),
)

results = Table(
    "results",
    metadata,
    _of_job(),
    _text("fingerprint"),
    _text("paragraph"),
    _number("retired"),  # 0 for the one that counts, then 1, 2 … for those that were redone
    _text("passage"),
    _text("post_edit"),
    _text("decision"),
    _text("findings"),
    _text("edits"),
    Column("edit_rate", Double, nullable=False),
    _text("model"),
    _text("prompt"),
    _number("prompt_tokens"),
    _number("completion_tokens"),
    _number("attempt"),
    Column("seconds", Double, nullable=False),
    Column("created", Double, nullable=False),
    _text("worker"),
    # What tells most comes first: a server that knows nothing yet of a new table might look no further than the job.
    PrimaryKeyConstraint("fingerprint", "paragraph", "job", "retired"),
    Index("results_by_model", "model", "created"),
)

stretches = Table(
    "stretches",
    metadata,
    _of_job(),
    _number("number"),
    _number("chapter"),
    _text("title"),
    Column("worker", ExactText),
    _number(
        "turn"
    ),  # goes up with every claim, so that who lost a stretch and got it back knows the two apart
    _number("waiting"),
    _number("edited"),
    _number("unchanged"),
    _number("rejected"),
    _number("quarantined"),
    _number("skipped"),
    _number("words"),
    _number("words_done"),
    _number("words_waiting"),
    Column("prompt_tokens", BigInteger, nullable=False),
    Column("completion_tokens", BigInteger, nullable=False),
    PrimaryKeyConstraint("job", "number"),
)
Index("stretches_by_weight", stretches.c.job, stretches.c.words_waiting.desc(), stretches.c.number)

workers = Table(
    "workers",
    metadata,
    Column("id", ExactText, primary_key=True),
    _text("host"),
    _number("pid"),
    _text("started"),
    Column("expires", Double, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("id", ExactText, primary_key=True),
    _text("name"),
    _text("content"),
    Column("created", Double, nullable=False),
)

raters = Table(
    "raters",
    metadata,
    Column("trial", ExactText, ForeignKey("trials.id", ondelete="CASCADE"), nullable=False),
    _text("name"),
    Column("token_hash", ExactText),  # none for one whose votes came in a file
    Column("created", Double, nullable=False),
    PrimaryKeyConstraint("trial", "name"),
    Index("raters_by_token", "token_hash", unique=True),
)

votes = Table(
    "votes",
    metadata,
    *map(_text, ("trial", "item", "rater", "first", "second", "choice", "confidence", "believed_human")),
    *map(_text, ("errors", "comment", "at")),
    Column("created", Double, nullable=False),
    PrimaryKeyConstraint("trial", "item", "rater"),
    ForeignKeyConstraint(["trial", "rater"], ["raters.trial", "raters.name"], ondelete="CASCADE"),
)

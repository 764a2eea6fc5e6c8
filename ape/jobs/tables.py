"""The tables of the job store, and types and functions that differ between SQLite and PostgreSQL.

    jobs ─┬─ paragraphs    the paragraphs of a book and their states
          ├─ results       post-edits by fingerprint; redone results stay as history
          └─ stretches     runs of paragraphs that one worker does in order: the worker, and counts
    workers                active workers and the ends of their leases
    trials ── raters ── votes    blind tests, their raters, and one vote for each item and rater

A row of `stretches` is the lock of its paragraphs: each change of a paragraph first updates its stretch. So its counts
are always right, and counting a job reads a few short rows.
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

# Characters that databases refuse, and the prefix of text stored as JSON: a Unicode noncharacter.
_ESCAPED = "\ufdd0"
_REFUSED = re.compile(f"[\x00\ud800-\udfff]|^{_ESCAPED}")


class ExactText(TypeDecorator[str]):
    """Text that is stored exactly, even with NUL characters or lone surrogates."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape the text where the database would refuse it."""
        return escape_text(value) if value is not None else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Restore the text."""
        return json.loads(value[1:]) if value and value[0] == _ESCAPED else value


def escape_text(text: str) -> str:
    """Escape text that a database would refuse, as JSON."""
    if text.isascii() and "\x00" not in text:
        return text
    return _ESCAPED + json.dumps(text) if _REFUSED.search(text) else text


class DatabaseTime(FunctionElement[float]):
    """Seconds since 1970 by the clock of the database, which all workers share."""

    inherit_cache = True
    type = Double()


@compiles(DatabaseTime, "sqlite")
def _now_sqlite(element: DatabaseTime, compiler: SQLCompiler, **_: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseTime, "postgresql")
def _now_postgresql(element: DatabaseTime, compiler: SQLCompiler, **_: Any) -> str:
    # Not now(), which is the start of the transaction, before it waited for a lock.
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
    _number("retired"),  # 0 for the current result, then 1, 2 … for redone ones
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
    # The most selective column first: without statistics of a new table, PostgreSQL may use the job alone.
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
    _number("turn"),  # incremented with every claim, to distinguish two claims of one worker
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
    Column("token_hash", ExactText),  # NULL for raters whose votes were imported
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

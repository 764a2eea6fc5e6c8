"""The tables of the job store, and types and functions that differ between SQLite and PostgreSQL.

    jobs ─┬─ paragraphs    the paragraphs of a book and their states
          ├─ results       post-edits by fingerprint; redone results stay as history
          └─ stretches     runs of paragraphs that one worker does in order: the worker, and counts
    workers                active workers and the ends of their leases
    jobs ─┬─ reviews       what people decided about a paragraph: its present state, with a version
          ├─ review_log    every decision with author, time and the states before and after it
          └─ review_links  links for one reviewer of one book
    trials ── raters ── votes    blind tests, their raters, and one vote for each item and rater
    batch_files, batches ── batch_answers    uploaded request files, their batches, and one answer a line

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


def _real(name: str) -> Column[float]:
    return Column(name, Double, nullable=False)


def _of_job() -> Column[str]:
    return Column("job", ExactText, ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False)


def _added_text(name: str, *, key: str | None = None) -> Column[str]:
    """A column that a later version added, empty in older rows. `key` is its name in the code, if it is another one."""
    return Column(name, ExactText, key=key or name, nullable=False, server_default="")


metadata = MetaData()

jobs = Table(
    "jobs",
    metadata,
    Column("id", ExactText, primary_key=True),
    *map(_text, ("owner", "name", "source", "source_hash", "mt", "mt_hash", "output", "output_hash")),
    *map(_text, ("format", "recipe", "state", "note", "encoding", "outcome")),
    *map(_added_text, ("engine", "unpaired", "names")),
    _added_text("told", key="file_options_json"),
    *map(_real, ("created", "updated")),
    Index("jobs_by_owner", "owner", "created"),
)

paragraphs = Table(
    "paragraphs",
    metadata,
    _of_job(),
    _text("id"),
    *map(_number, ("position", "chapter")),
    _text("title"),
    _number("stretch"),
    *map(_text, ("source", "mt", "how")),
    _real("confidence"),
    *map(_text, ("skip", "fingerprint")),
    _number("words"),
    *map(_text, ("state", "decision", "reason")),
    _number("failures"),
    PrimaryKeyConstraint("job", "id"),
    Index("paragraphs_in_order", "job", "position"),
    Index("paragraphs_by_stretch", "job", "stretch", "position"),
)

results = Table(
    "results",
    metadata,
    _of_job(),
    *map(_text, ("fingerprint", "paragraph")),
    _number("retired"),  # 0 for the current result, then 1, 2 … for redone ones
    *map(_text, ("passage", "post_edit", "decision", "findings", "edits")),
    _real("edit_rate"),
    *map(_text, ("model", "prompt")),
    *map(_number, ("prompt_tokens", "completion_tokens", "attempt")),
    *map(_real, ("seconds", "created")),
    _text("worker"),
    # The most selective column first: without statistics of a new table, PostgreSQL may use the job alone.
    PrimaryKeyConstraint("fingerprint", "paragraph", "job", "retired"),
    Index("results_by_model", "model", "created"),
)

stretches = Table(
    "stretches",
    metadata,
    _of_job(),
    *map(_number, ("number", "chapter")),
    _text("title"),
    Column("worker", ExactText),
    _number("turn"),  # incremented with every claim, to distinguish two claims of one worker
    *map(_number, ("waiting", "edited", "unchanged", "rejected", "quarantined", "skipped")),
    *map(_number, ("words", "words_done", "words_waiting")),
    *(Column(name, BigInteger, nullable=False) for name in ("prompt_tokens", "completion_tokens")),
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
    _real("expires"),
)

reviews = Table(
    "reviews",
    metadata,
    _of_job(),
    _text("paragraph"),
    _number("version"),
    *map(_text, ("state", "author")),
    _real("updated"),
    PrimaryKeyConstraint("job", "paragraph"),
)

review_log = Table(
    "review_log",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    _of_job(),
    *map(_text, ("paragraph", "batch", "action", "author", "detail", "result", "before", "after")),
    _number("undone"),
    _real("at"),
    Index("review_log_by_paragraph", "job", "paragraph", "id"),
    Index("review_log_by_job", "job", "id"),
    Index("review_log_by_author", "job", "author", "id"),
    sqlite_autoincrement=True,
)

review_links = Table(
    "review_links",
    metadata,
    Column("id", ExactText, primary_key=True),
    _of_job(),
    *map(_text, ("token_hash", "name")),
    *map(_real, ("created", "expires")),
    Column("revoked", Double),
    Index("review_links_by_token", "token_hash", unique=True),
    Index("review_links_by_job", "job", "created"),
)

trials = Table(
    "trials", metadata, Column("id", ExactText, primary_key=True), *map(_text, ("name", "content")), _real("created")
)

raters = Table(
    "raters",
    metadata,
    Column("trial", ExactText, ForeignKey("trials.id", ondelete="CASCADE"), nullable=False),
    _text("name"),
    Column("token_hash", ExactText),  # NULL for raters whose votes were imported
    _real("created"),
    PrimaryKeyConstraint("trial", "name"),
    Index("raters_by_token", "token_hash", unique=True),
)

votes = Table(
    "votes",
    metadata,
    *map(_text, ("trial", "item", "rater", "first", "second", "choice", "confidence", "believed_human")),
    *map(_text, ("errors", "comment", "at")),
    *(Column(name, Text, nullable=False, server_default="{}") for name in ("scores", "spans")),
    _real("created"),
    PrimaryKeyConstraint("trial", "item", "rater"),
    ForeignKeyConstraint(["trial", "rater"], ["raters.trial", "raters.name"], ondelete="CASCADE"),
)

batch_files = Table(
    "batch_files",
    metadata,
    Column("id", ExactText, primary_key=True),
    *map(_text, ("owner", "name", "purpose")),
    Column("size", BigInteger, nullable=False),
    _real("created"),
    Index("batch_files_by_owner", "owner", "created"),
)

batches = Table(
    "batches",
    metadata,
    Column("id", ExactText, primary_key=True),
    *map(_text, ("owner", "input_file", "endpoint", "window", "notes", "state", "errors", "times")),
    *map(_number, ("total", "completed", "failed")),
    *map(_text, ("output_file", "error_file")),
    Column("worker", ExactText),
    _real("created"),
    Index("batches_by_owner", "owner", "created"),
)

batch_answers = Table(
    "batch_answers",
    metadata,
    Column("batch", ExactText, ForeignKey("batches.id", ondelete="CASCADE"), nullable=False),
    _number("line"),
    _text("custom_id"),
    _number("status"),
    _text("body"),
    PrimaryKeyConstraint("batch", "line"),
)

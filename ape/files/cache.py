"""A content-addressed cache: values in one SQLite file, each under a digest of everything that determines it.

Several processes may use a file at once. A value is a function of its key, so it does not matter whose is stored.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from platformdirs import user_cache_path

Value = TypeVar("Value", str, bytes)
# How long to wait for another process that is writing.
_LOCK_SECONDS = 30.0
_KEYS_PER_QUERY = 500


def cache_folder(name: str = "") -> Path:
    """The default folder of a cache, below the user's cache folder."""
    return user_cache_path("ape", appauthor=False) / name


def cache_key(content: str | bytes) -> bytes:
    """A digest of 16 bytes. A text may hold lone surrogates."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=16).digest()


class ContentCache(Generic[Value]):
    """Values by key. Without `explain`, whatever fails is ignored, as if nothing were cached."""

    def __init__(
        self,
        database: sqlite3.Connection | None,
        *,
        table: str,
        column: str,
        explain: Callable[[Exception], Exception] | None = None,
    ) -> None:
        self._database = database
        self._table, self._column = table, column
        self._explain = explain

    def read(self, keys: Iterable[bytes]) -> dict[bytes, Value]:
        """The values that are cached."""
        found: dict[bytes, Value] = {}
        rest = iter(dict.fromkeys(keys))
        with _handle_errors(self._explain):
            while self._database and (batch := list(islice(rest, _KEYS_PER_QUERY))):
                marks = ",".join("?" * len(batch))
                query = f"SELECT key, {self._column} FROM {self._table} WHERE key IN ({marks})"  # noqa: S608
                found |= dict(self._database.execute(query, batch).fetchall())
        return found

    def write(self, values: Mapping[bytes, Value]) -> None:
        """Store values, in one transaction."""
        with _handle_errors(self._explain):
            if self._database and values:
                with self._database:
                    self._database.executemany(
                        f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?)",  # noqa: S608
                        values.items(),
                    )


@contextmanager
def open_cache(
    path: Path | None,
    kind: type[Value],
    *,
    table: str,
    column: str,
    explain: Callable[[Exception], Exception] | None = None,
) -> Iterator[ContentCache[Value]]:
    """Open or create a cache of `kind`; with no path it lasts until the end of the block.

    `explain` makes the exception to raise when the file can't be used. Without it failures are silent: a cache that
    only saves time should not stop the work.
    """
    database: sqlite3.Connection | None = None
    with _handle_errors(explain):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path or ":memory:", timeout=_LOCK_SECONDS)
    if database is None:
        yield ContentCache(None, table=table, column=column)
        return
    with closing(database):
        with _handle_errors(explain), database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY, "
                f"{column} {'TEXT' if kind is str else 'BLOB'} NOT NULL) WITHOUT ROWID"
            )
        yield ContentCache(database, table=table, column=column, explain=explain)


@contextmanager
def _handle_errors(explain: Callable[[Exception], Exception] | None) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if explain:
            raise explain(error) from error

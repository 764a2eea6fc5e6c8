"""SQLite or PostgreSQL by URL: transactions, and database errors as StoreError."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import platformdirs
from sqlalchemy import URL, Connection, Dialect, Engine, UpdateBase, create_engine, event, make_url
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from ape.errors import ApeError, InputError, StoreError, StoreUnreachable
from ape.jobs.tables import escape_text

_POSTGRESQL = ("postgres", "postgresql", "postgresql+psycopg")
_SQLITE = ("sqlite", "sqlite+pysqlite")
_WRITES = "ape_writes"
# Threads of one process that talk to the database at once. More of them wait for a connection.
_CONNECTIONS = 20


class Database:
    """Atomic transactions from any thread. `timeout_seconds` is how long to wait for a lock."""

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self.url = _parse(url)
        self.name = _name(self.url)
        self._timeout_seconds = timeout_seconds
        # SQLite has one writer at a time, and who waits for another process looks again in growing pauses. Threads of
        # one process are better off in a queue.
        self._turn: AbstractContextManager[Any] = threading.Lock() if self.is_sqlite else nullcontext()
        self._engine = self._open()
        if self.is_sqlite:
            with self._translate_errors():
                self._write_ahead()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file on this machine."""
        return self.url.drivername == "sqlite"

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """A read transaction; on SQLite a consistent snapshot."""
        with self._translate_errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """A write transaction: committed when the block ends, rolled back where it raises."""
        with self._translate_errors(), self._turn, self._engine.connect() as connection:
            yield from _written(connection)

    @contextmanager
    def prepared_transaction(self) -> Iterator[PreparedTransaction]:
        """A write transaction for prepared statements."""
        with self._translate_errors(), self._turn:
            connection = self._engine.raw_connection()
            try:
                cursor = connection.cursor()
                if self.is_sqlite:
                    cursor.execute("BEGIN IMMEDIATE")
                yield PreparedTransaction(cursor, self._engine.dialect)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            finally:
                connection.close()

    @contextmanager
    def staging_transaction(self) -> Iterator[Connection]:
        """A connection with temporary tables of its own, which can be filled without locking others."""
        with self._translate_errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write_on(self, connection: Connection) -> Iterator[Connection]:
        """A write transaction on a connection with staged rows."""
        with self._turn:
            yield from _written(connection)

    def close_to_others(self) -> None:
        """Take the texts of the jobs from everybody's eyes, where an earlier version let all read the file.

        A file that is shared with a group stays as it is.
        """
        if self.is_sqlite and not self.name.startswith("file:"):
            with suppress(OSError):
                for file in (Path(self.name + ending) for ending in ("", "-wal", "-shm")):
                    if file.is_file() and file.stat().st_mode & 0o007:
                        file.chmod(0o600)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _open(self) -> Engine:
        if not self.is_sqlite:
            return _postgresql(self.url, self._timeout_seconds)
        if not self.name.startswith("file:"):
            _make_folder(Path(self.name))
            _create_private(Path(self.name))
        return _sqlite(self.url, self._timeout_seconds)

    def _write_ahead(self) -> None:
        """Switch to WAL, so that readers and the writer do not block each other. The file remembers it.

        Of several processes that start together one may see "locked" here, where the busy timeout does not apply.
        """
        until = time.monotonic() + self._timeout_seconds
        connection = self._engine.raw_connection()
        try:
            while True:
                try:
                    connection.cursor().execute("PRAGMA journal_mode = WAL")
                    return
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                        raise
                time.sleep(0.01)
        finally:
            connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate database errors to StoreError."""
        try:
            yield
        except DBAPIError as error:
            raise _sentence(error.orig, self.name) from error
        except NoConnection as error:
            raise StoreError(f"Too many threads wait for {self.name}. Try again.") from error
        except sqlite3.Error as error:
            raise _sentence(error, self.name) from error
        except Exception as error:
            # Errors of the driver itself, which SQLAlchemy did not wrap in DBAPIError.
            if not isinstance(error, self._engine.dialect.loaded_dbapi.Error):
                raise
            raise _sentence(error, self.name) from error


class PreparedStatement:
    """A statement compiled to SQL once and passed straight to the driver.

    SQLAlchemy takes about 0.1 ms to look up and run even a compiled statement: for the three of a result as long as a
    good disk takes to sync them.
    """

    def __init__(self, statement: UpdateBase) -> None:
        self._statement = statement
        self._made: dict[str, tuple[str, dict[str, Any]]] = {}

    def compile(self, dialect: Dialect) -> tuple[str, dict[str, Any]]:
        """Compile to SQL with named parameters, and the constant ones among them."""
        if dialect.name not in self._made:
            named = sqlite.dialect(paramstyle="named") if dialect.name == "sqlite" else dialect
            compiled = self._statement.compile(dialect=named)
            fixed = {name: value for name, value in compiled.params.items() if value is not None}
            self._made[dialect.name] = (str(compiled), fixed)
        return self._made[dialect.name]


class PreparedTransaction:
    """A transaction for prepared statements."""

    def __init__(self, cursor: Any, dialect: Dialect) -> None:
        self._cursor = cursor
        self._dialect = dialect

    def change(self, statement: PreparedStatement, values: Mapping[str, str | float]) -> int:
        """Run the statement and return the number of changed rows."""
        sql, fixed = statement.compile(self._dialect)
        fitting = {name: escape_text(value) if isinstance(value, str) else value for name, value in values.items()}
        self._cursor.execute(sql, fixed | fitting)
        count: int = self._cursor.rowcount
        return count


def _written(connection: Connection) -> Iterator[Connection]:
    connection.execution_options(**{_WRITES: True})
    with connection.begin():
        yield connection


def _name(url: URL) -> str:
    """The URL without its password."""
    if url.drivername == "sqlite":
        return url.database or ""
    return url.set(drivername="postgresql").render_as_string()


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.parent == platformdirs.user_data_path("ape", appauthor=False):
            path.parent.chmod(0o700)  # an earlier version made it readable
    except OSError as error:
        raise StoreError(f"The folder of {path} can't be created: {error.strerror}. Choose another place.") from error


def _create_private(path: Path) -> None:
    """Create a new file as ours alone. SQLite gives the files next to it (-wal, -shm) the same permissions.

    A file that exists is never opened here: closing it would drop the locks of other connections of this process.
    """
    with suppress(OSError):  # it exists, or SQLite will say why it can't be created
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _parse(url: str) -> URL:
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise InputError(
            "The address of the job store can't be read. Give a file, or postgresql://user@host/name.", field="store"
        ) from error
    if parsed.drivername in _POSTGRESQL:
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername not in _SQLITE:
        raise InputError(
            f"Jobs can't be kept in {parsed.drivername!r}. Give a file, or postgresql://user@host/name.", field="store"
        )
    if parsed.database in (None, "", ":memory:"):
        raise InputError("Jobs have to outlive the process: name a file, as in sqlite:///jobs.db.", field="store")
    return parsed.set(drivername="sqlite")


def _sqlite(url: URL, timeout_seconds: float) -> Engine:
    engine = create_engine(url, pool_size=_CONNECTIONS, max_overflow=0, pool_timeout=timeout_seconds + 30)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # the driver begins no transactions of its own; we do, below
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * timeout_seconds)}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")  # a result is on disk before it is reported

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Who will write says so at once: a reader that turns writer halfway may be refused without being let wait.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL, timeout_seconds: float) -> Engine:
    try:
        return create_engine(
            url,
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_timeout=timeout_seconds + 30,
            pool_pre_ping=True,  # a server that was restarted is no reason to fail
            connect_args={"connect_timeout": max(2, int(timeout_seconds)), "application_name": "ape"},
        )
    except ModuleNotFoundError as error:
        raise InputError(
            'PostgreSQL needs a driver that is not installed here: pip install "psycopg[binary]".', field="store"
        ) from error


def _sentence(error: BaseException | None, name: str) -> ApeError:
    """The message of a database error."""
    if isinstance(error, sqlite3.Error):
        return _sqlite_sentence(error, name)
    state: str = getattr(error, "sqlstate", None) or "none"
    said = " ".join(str(error).split())
    if state == "none" or state.startswith(("08", "57P")):
        lost = any(kind.__name__ in ("OperationalError", "InterfaceError") for kind in type(error).__mro__)
        kind = StoreUnreachable if lost else StoreError
        return kind(f"The database {name} can't be opened, or went away: {said}")
    if state == "42501":
        return InputError(f"The user of {name} may not do this: {said}. Grant it, or use another.", field="store")
    if state.startswith("53"):
        return StoreError(f"The server of {name} has no room left: {said}. What was finished is kept.")
    if state == "25006":
        return StoreError(f"The database {name} is read-only. Use the primary server.")
    return StoreError(f"The database {name} failed: {said} ({state})")


def _sqlite_sentence(error: sqlite3.Error, name: str) -> ApeError:
    # The low byte is the kind; the rest tells variants apart that need no sentence of their own.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    match code:
        case sqlite3.SQLITE_NOTADB:
            return InputError(f"{name} is not a job store. Choose another file.", field="store")
        case sqlite3.SQLITE_CANTOPEN:
            return InputError(
                f"{name} can't be opened as a job store: it is a folder, or we may not read it. Name another.",
                field="store",
            )
        case sqlite3.SQLITE_FULL:
            return StoreError(f"The disk of {name} is full. Make room and go on: what was finished is kept.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreError(f"{name} is read-only. Make it writable, with its folder, or choose another place.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreError(f"{name} is locked by another program for too long. Close that, and try again.")
        case sqlite3.SQLITE_CORRUPT:
            return StoreError(f"{name} is damaged: {error}. Move it away and start again, or restore a copy.")
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"The disk of {name} fails: {error}. What was finished before is kept.")
        case _:
            return StoreError(f"The job store {name} failed: {error}")

"""Migrate a database to the tables of this version, once even when many processes start together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from ape.errors import InputError
from ape.jobs.database import Database

# All that there ever were, oldest first. A database at any of them is brought up to the last.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")
VERSION_TABLE = "ape_version"
MIGRATIONS = Path(__file__).parent / "migrations"
# The advisory lock of PostgreSQL that a migration holds; any number that never changes.
_LOCK = 4_119_726_253


def migrate(database: Database, *, revisions: Sequence[str] = REVISIONS, more: Sequence[Path] = ()) -> None:
    """Create or upgrade the tables. `more` are folders of further revisions.

    Raises InputError where a newer version made them, or another program.
    """
    with database.read_transaction() as connection:
        if _version(connection) == revisions[-1]:
            return
    with database.write_transaction() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        version = _version(connection)
        if version == revisions[-1]:
            return
        _refuse_strangers(connection, version, database.name, revisions)
        _upgrade(connection, revisions[-1], more)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    version: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608
    return version


def _refuse_strangers(connection: Connection, version: str | None, name: str, revisions: Sequence[str]) -> None:
    if version is not None and version not in revisions:
        raise InputError(
            f"{name} was made by a newer version (its tables are at {version}, this one knows "
            f"{revisions[-1]}). Upgrade, or name another store.",
            field="store",
        )
    if version is None and (there := {"jobs", "paragraphs"} & set(inspect(connection).get_table_names())):
        raise InputError(
            f"{name} has a table {min(there)!r} that is not ours. Name a database of its own for the jobs.",
            field="store",
        )


def _upgrade(connection: Connection, target: str, more: Sequence[Path]) -> None:
    # Alembic takes a while to import, and nearly always there is nothing for it to do.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", _escaped(MIGRATIONS))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", "\n".join(map(_escaped, [MIGRATIONS / "versions", *more])))
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def _escaped(path: Path) -> str:
    return str(path).replace("%", "%%")

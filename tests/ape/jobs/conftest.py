"""Job stores on SQLite and on a PostgreSQL server that the tests start."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ape.jobs.store import JobStore, JobWorker
from ape.jobs.tables import jobs, workers
from tests.ape.jobs.postgres import Postgres, missing, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server, started once."""
    if why := missing():
        pytest.skip(why)
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def shared_database(postgres: Postgres) -> str:
    """A database that tests share one after the other."""
    return postgres.fresh("shared")


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with all tables; to copy it is much cheaper than to create the tables."""
    path = tmp_path_factory.mktemp("database") / "jobs.db"
    with JobStore(f"sqlite:///{path}"):
        return path


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, empty_database: Path) -> str:
    """The URL of a store."""
    if request.param == "sqlite":
        return f"sqlite:///{shutil.copy(empty_database, tmp_path)}"
    url: str = request.getfixturevalue("shared_database")
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[JobStore]:
    """An empty store, on each database in turn."""
    with JobStore(store_url) as store:
        yield store
        with store._database.write_transaction() as connection:
            connection.execute(jobs.delete())
            connection.execute(workers.delete())


@pytest.fixture
def worker() -> JobWorker:
    """A worker in this process."""
    return JobWorker.here()

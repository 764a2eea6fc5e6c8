"""A database of any version is migrated once, with all of its data."""

from __future__ import annotations

import logging
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from ape.errors import InputError
from ape.jobs.database import Database
from ape.jobs.job_paragraph import ParagraphState
from ape.jobs.schema import MIGRATIONS, REVISIONS, VERSION_TABLE, migrate
from ape.jobs.store import JobStore, JobWorker
from ape.jobs.tables import metadata
from tests.ape.jobs.job_factory import RECIPE, a_job, a_result, begin, finish
from tests.ape.jobs.postgres import Postgres

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["sqlite", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "jobs.db")
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.fresh(tmp_path.name)


def test_the_revisions_that_the_code_knows_are_those_of_the_folder() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    folder = ScriptDirectory.from_config(config)
    assert tuple(one.revision for one in folder.walk_revisions())[::-1] == REVISIONS


def test_the_revisions_make_the_tables_that_the_code_uses(new_url: str) -> None:
    with JobStore(new_url) as store, store._database.read_transaction() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
        assert compare_metadata(context, metadata) == []


# A finished paragraph as stored by the first version.
AT_0001 = (
    "INSERT INTO jobs VALUES ('j', '', 'A Book', 's.epub', '1', 'm.epub', '2', 'o.epub', '', 'epub', :recipe, "
    "'running', '', '', '', 1800000000, 1800000000)",
    "INSERT INTO paragraphs VALUES ('j', 'p0', 0, 0, 'Chapter 0', 0, 'La phrase.', 'The phrase.', 'alignment', 0.75, "
    "'', 'f', 2, 'done', 'edited', '', 0)",
    "INSERT INTO results VALUES ('j', 'f', 'p0', 0, 'x', 'The sentence.', 'edited', '[]', '[]', 0.25, 'model', "
    "'chat@0', 30, 10, 1, 2.0, 1800000000, 'w')",
    "INSERT INTO stretches VALUES ('j', 0, 0, 'Chapter 0', NULL, 1, 0, 1, 0, 0, 0, 0, 2, 2, 0, 30, 10)",
    "INSERT INTO workers VALUES ('w', 'h', 1, '0', 0)",
)


def test_a_job_of_the_first_version_lives_on(new_url: str) -> None:
    with closing(Database(new_url, timeout_seconds=10)) as database:
        migrate(database, revisions=("0001",))
        with database.write_transaction() as connection:
            for statement in AT_0001:
                connection.execute(text(statement), {"recipe": RECIPE.to_json()})
    with JobStore(new_url) as store:
        assert store.job("j") == a_job()
        row = next(store.rows("j"))
        assert (row.state, row.seconds, row.result) == (ParagraphState.DONE, 2.0, a_result())
        assert (store.counts("j").edited, store.counts("j").words) == (1, 2)
        assert store.redo("j", paragraphs=["p0"]) == 1
        assert finish(store, JobWorker.here()) == 1
        store.update("j", engine="url")
        assert store.job("j").engine == "url"


def test_a_database_of_a_newer_version_is_left_alone(new_url: str) -> None:
    with JobStore(new_url) as store:
        begin(store)
        with store._database.write_transaction() as connection:
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(InputError, match=r"was made by a newer version \(its tables are at 9999"):
        JobStore(new_url)


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(new_url: str, tmp_path: Path) -> None:
    with JobStore(new_url) as store:
        begin(store)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "later.py").write_text(
        "from alembic import op\n"
        f"revision, down_revision = 'later', {REVISIONS[-1]!r}\n"
        "def upgrade():\n"
        "    op.execute('ALTER TABLE jobs ADD COLUMN half TEXT')\n"
        "    raise RuntimeError('the power failed')\n"
    )
    with (
        closing(Database(new_url, timeout_seconds=10)) as database,
        pytest.raises(RuntimeError, match="the power failed"),
    ):
        migrate(database, revisions=(*REVISIONS, "later"), more=[broken])
    with JobStore(new_url) as store, store._database.read_transaction() as connection:
        names = {column["name"] for column in inspect(connection).get_columns("jobs")}
    assert "half" not in names


@pytest.mark.subprocess
def test_many_may_begin_at_once(new_url: str) -> None:
    code = "import sys; from ape.jobs.store import JobStore; JobStore(sys.argv[1]).close()"
    started = [
        subprocess.Popen([sys.executable, "-c", code, new_url], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)
    ]
    said = [process.communicate(timeout=300)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 3, said
    with JobStore(new_url) as store:
        assert store.jobs() == []


def test_opening_a_store_says_nothing_and_leaves_logging_alone(new_url: str, capfd: pytest.CaptureFixture[str]) -> None:
    before = logging.root.handlers[:], logging.root.level, logging.getLogger("alembic").level
    with JobStore(new_url):
        pass
    assert (logging.root.handlers[:], logging.root.level, logging.getLogger("alembic").level) == before
    assert capfd.readouterr() == ("", "")


@pytest.mark.subprocess
def test_alembic_is_imported_only_where_there_is_something_to_upgrade(tmp_path: Path) -> None:
    code = (
        "import sys; from ape.jobs.store import JobStore; JobStore(sys.argv[1]).close(); "
        "print('alembic' in sys.modules)"
    )
    for expected in ("True", "False"):
        command = [sys.executable, "-c", code, str(tmp_path / "jobs.db")]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        assert done.stdout.strip() == expected

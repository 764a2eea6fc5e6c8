"""Stretches of many books give what `ape book edit` gives, lose nothing, and ask for nothing twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ape.batch.actor import BatchWork
from ape.batch.assembly import assemble_books, book_statuses
from ape.batch.folder import QUARANTINE, RECORDS, BatchFolder
from ape.batch.plain import check_plain
from ape.batch.planning import STRETCHES_PER_FILE, BatchPlan
from ape.batch.records import delete_committed
from ape.errors import InputError, StoreError
from ape.jobs.run import edit_book
from ape.jobs.store import JobStore
from ape.jobs.stretch_editor import EngineOutage
from ape.settings import Settings, load_settings
from tests.ape.batch.library import LibraryBook, make_library, write_manifest
from tests.ape.batch.sink import plan, run_blocks
from tests.ape.books.sample_book import mended
from tests.scripted import Fail, Move, Say, ScriptedServer, scripted_server, translation_in


def mend(request: dict[str, Any], turn: int) -> Move:
    return Say(mended(translation_in(request)))


def refuse_poison(request: dict[str, Any], turn: int) -> Move:
    mt = translation_in(request)
    return Fail(500) if "Page 7:" in mt else Say(mended(mt))


def settings_of(server: ScriptedServer, folder: Path) -> Settings:
    return load_settings(url=server.url, jobs=str(folder / "jobs.sqlite"), retry_attempts=1)


def work_of(folder: Path, settings: Settings, **more: Any) -> BatchWork:
    urls = (settings.url,) if settings.url else ()
    return BatchWork(str(folder / "batch"), settings, urls, concurrency=4, **more)


def assemble(folder: Path, planned: BatchPlan, settings: Settings) -> list[str]:
    with JobStore(settings.jobs_url) as store:
        return [one.problem for one in assemble_books(BatchFolder(str(folder / "batch")), planned, store)]


def edit_alone(book: LibraryBook, folder: Path, settings: Settings) -> bytes:
    output = folder / f"alone-{book.output.name}"
    edit_book(book.source, book.mt, output, source_language="fr", target_language="en", settings=settings)
    return output.read_bytes()


def test_books_are_those_of_book_edit_byte_by_byte(tmp_path: Path) -> None:
    books = make_library(tmp_path, 3, paragraphs=30)
    manifest = write_manifest(tmp_path / "m.csv", books, {1: {"names": "auto"}})
    with scripted_server() as server:
        server.script = mend
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        assert (planned.books, planned.stretches) == (3, 9)
        run_blocks(work_of(tmp_path, settings), planned)
        assert assemble(tmp_path, planned, settings) == ["", "", ""]
        for place in (0, 2):
            assert books[place].output.read_bytes() == edit_alone(books[place], tmp_path, settings)
        named = tmp_path / "named.md"
        edit_book(
            books[1].source, books[1].mt, named, source_language="fr", target_language="en", settings=settings,
            names="auto",
        )  # fmt: skip
        assert books[1].output.read_bytes() == named.read_bytes()
        assert books[0].output.read_bytes() != books[0].mt.read_bytes()


def test_a_stretch_that_was_begun_goes_on_where_it_was(tmp_path: Path) -> None:
    books = make_library(tmp_path, 1, paragraphs=25, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books)
    with scripted_server() as server:
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        server.script = lambda request, turn: mend(request, turn) if turn < 9 else Fail(503)
        with pytest.raises(EngineOutage):
            run_blocks(work_of(tmp_path, settings, patience_seconds=0.0), planned)
        folder = BatchFolder(str(tmp_path / "batch"))
        assert len(folder.ids(RECORDS)) > 0
        answered = [translation_in(one) for one in server.requests[:9]]
        server.script, server.requests = mend, []
        run_blocks(work_of(tmp_path, settings), planned)
        assert not set(answered) & {translation_in(one) for one in server.requests}
        delete_committed(folder, folder.committed_ids())
        assert folder.ids(RECORDS) == []
        assert assemble(tmp_path, planned, settings) == [""]


def test_a_poisoned_row_is_kept_apart_and_tried_again_on_request(tmp_path: Path) -> None:
    books = make_library(tmp_path, 1, paragraphs=30, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books)
    with scripted_server() as server:
        server.script = refuse_poison
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        run_blocks(work_of(tmp_path, settings), planned)
        folder = BatchFolder(str(tmp_path / "batch"))
        (status,) = book_statuses(folder, planned)
        assert (len(status.quarantined), status.missing) == (1, 0)
        assert not set(status.quarantined) & folder.committed_ids()
        assert assemble(tmp_path, planned, settings) == [""]
        server.script, server.requests = mend, []
        run_blocks(work_of(tmp_path, settings, quarantined=frozenset(folder.ids(QUARANTINE))), planned, blocks=())
        assert server.requests == []
        run_blocks(work_of(tmp_path, settings), planned)
        again = [translation_in(one) for one in server.requests]
        assert any("Page 7:" in mt for mt in again)
        assert assemble(tmp_path, planned, settings) == [""]
        assert books[0].output.read_bytes() == edit_alone(books[0], tmp_path, settings)


def test_an_unfinished_book_is_named_and_not_written(tmp_path: Path) -> None:
    books = make_library(tmp_path, 8, paragraphs=60, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books)
    with scripted_server() as server:
        server.script = mend
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        assert planned.stretches > STRETCHES_PER_FILE
        run_blocks(work_of(tmp_path, settings), planned, blocks=[0])
        problems = assemble(tmp_path, planned, settings)
    assert problems[0] == ""
    assert "stretches are not done" in problems[-1]
    assert not books[-1].output.exists()


def test_an_adapter_that_is_not_served_is_refused_before_the_start(tmp_path: Path) -> None:
    books = make_library(tmp_path, 2, paragraphs=3, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books, {1: {"adapter": "novels"}})
    with scripted_server() as server:
        settings = settings_of(server, tmp_path)
        with pytest.raises(InputError, match="line 3: No model is called 'novels'"):
            asyncio.run(plan(tmp_path / "batch", manifest, settings))
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings, skip=True))
    assert planned.books == 1
    assert planned.problems[0]["line"] == 3


def test_planning_again_keeps_what_has_not_changed(tmp_path: Path) -> None:
    books = make_library(tmp_path, 2, paragraphs=30, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books)
    with scripted_server() as server:
        server.script = mend
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        run_blocks(work_of(tmp_path, settings), planned)
        books[1].mt.write_text(
            books[1].mt.read_text(encoding="utf-8").replace("Page 26:", "Page 26,"), encoding="utf-8"
        )
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        statuses = list(book_statuses(BatchFolder(str(tmp_path / "batch")), planned))
    assert [status.missing for status in statuses] == [0, 1]


def test_the_stretches_of_an_engine_that_dies_go_to_another(tmp_path: Path) -> None:
    books = make_library(tmp_path, 2, paragraphs=20, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books)
    with scripted_server() as dying, scripted_server() as healthy:
        healthy.script = mend
        dying.script = lambda request, turn: mend(request, turn) if turn < 5 else Fail(503)
        settings = settings_of(healthy, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        urls = (dying.url, healthy.url)
        run_blocks(BatchWork(str(tmp_path / "batch"), settings, urls, concurrency=4), planned)
        assert dying.requests
        assert assemble(tmp_path, planned, settings) == ["", ""]
        for book in books:
            assert book.output.read_bytes() == edit_alone(book, tmp_path, settings)


def test_a_folder_that_can_not_be_written_stops_the_run_with_a_sentence(tmp_path: Path) -> None:
    books = make_library(tmp_path, 1, paragraphs=3, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books)
    with scripted_server() as server:
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings))
        (tmp_path / "batch" / RECORDS).write_text("in the way", encoding="utf-8")
        with pytest.raises(StoreError, match="can't be written"):
            run_blocks(work_of(tmp_path, settings), planned)


@pytest.mark.parametrize(("context", "names"), [(2, ""), (0, "auto")])
def test_the_plain_form_refuses_what_it_would_leave_out(tmp_path: Path, context: int, names: str) -> None:
    books = make_library(tmp_path, 1, paragraphs=3, formats=("txt",))
    manifest = write_manifest(tmp_path / "m.csv", books, {0: {"names": names}})
    with scripted_server() as server:
        settings = settings_of(server, tmp_path)
        planned = asyncio.run(plan(tmp_path / "batch", manifest, settings, context=context))
    with pytest.raises(InputError, match="The plain form"):
        check_plain(planned)

"""Planning is atomic, and repeated where the files or their options change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ape.books.pairing.book_pairing import BookPairing
from ape.engines.protocol import Model
from ape.errors import InputError, UnknownJob
from ape.jobs.job_files import JobFiles
from ape.jobs.output import write_output
from ape.jobs.planning import OpenedFiles, StartedJob, complete_recipe, open_files, plan_job
from ape.jobs.store import JobStore, JobWorker
from tests.ape.books.book_factory import make_epub
from tests.ape.books.sample_book import tale
from tests.ape.jobs.job_factory import RECIPE, finish


@dataclass(frozen=True, slots=True)
class Meanwhile(OpenedFiles):
    """Opened files with a hook in their pairing."""

    happens: Callable[[], object] = lambda: None

    def pairing(self) -> BookPairing:
        self.happens()
        return OpenedFiles.pairing(self)


TALE = [one for part in tale(12) for one in part]


def a_book(folder: Path, *, encoding: str = "utf-8", mt: str = "m.txt") -> JobFiles:
    for name, texts in (("s.txt", [one.source for one in TALE]), (mt, [one.mt for one in TALE])):
        (folder / name).write_text("\n\n".join(texts) + "\n", encoding=encoding)
    return JobFiles(folder / "s.txt", folder / mt)


def opened(files: JobFiles, happens: Callable[[], object] = lambda: None) -> Meanwhile:
    found = open_files(files, source_language="fr", target_language="en")
    return Meanwhile(
        *(getattr(found, name) for name in OpenedFiles.__dataclass_fields__),  # type: ignore[misc]
        happens=happens,
    )


def begun(store: JobStore, files: JobFiles, happens: Callable[[], object] = lambda: None) -> StartedJob:
    return plan_job(store, opened(files, happens), RECIPE, id="j", output=str(files.mt.with_name("o.txt")))


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.subprocess
def test_a_job_whose_planning_was_killed_is_planned_by_the_next_run(store_url: str, tmp_path: Path) -> None:
    files = a_book(tmp_path)
    code = (
        "import sys; from pathlib import Path; from ape.jobs.store import JobStore; "
        "from tests.ape.jobs.test_planning import a_book, begun, kill; "
        "begun(JobStore(sys.argv[1]), a_book(Path(sys.argv[2])), kill)"
    )
    killed = subprocess.run([sys.executable, "-c", code, store_url, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with JobStore(store_url) as store:
        job = begun(store, files).job
        assert (store.counts(job.id).total, store.counts(job.id).waiting) == (12, 12)
        store.remove(job.id)


def test_two_that_begin_the_same_job_at_once_do_no_harm(store: JobStore, tmp_path: Path) -> None:
    files, worker = a_book(tmp_path), JobWorker.here()

    def another_begins_and_finishes() -> None:
        assert begun(store, files).job.id == "j"
        assert finish(store, worker) == 12
        store.update("j", output_hash="what the other wrote")

    late = begun(store, files, another_begins_and_finishes)
    assert (store.counts("j").edited, late.job.output_hash) == (12, "what the other wrote")
    assert late.replanned
    assert late.replanned.kept == 12


def test_one_that_is_stopped_leaves_what_another_has_planned_meanwhile(store: JobStore, tmp_path: Path) -> None:
    files = a_book(tmp_path)

    def another_begins_and_we_are_stopped() -> None:
        begun(store, files)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begun(store, files, another_begins_and_we_are_stopped)
    assert store.counts("j").waiting == 12


def test_another_that_gives_up_first_does_not_take_our_job_with_it(store: JobStore, tmp_path: Path) -> None:
    files = a_book(tmp_path)
    begun(store, files, lambda: store.remove_unplanned("j"))
    assert store.counts("j").waiting == 12


def test_a_book_that_can_not_be_paired_leaves_no_job(store: JobStore, tmp_path: Path) -> None:
    def fail() -> None:
        raise InputError("two different books")

    with pytest.raises(InputError):
        begun(store, a_book(tmp_path), fail)
    with pytest.raises(UnknownJob):
        store.job("j")


def test_a_plan_and_what_it_was_made_of_are_never_at_odds(store: JobStore, tmp_path: Path) -> None:
    files = a_book(tmp_path)
    before = begun(store, files).job
    files.mt.write_text(files.mt.read_text(encoding="utf-8").replace("Page 3", "Page three"), encoding="utf-8")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begun(store, files, stop)
    assert store.job("j") == before
    changed = begun(store, files)
    assert changed.replanned
    assert (changed.replanned.kept, changed.replanned.changed) == (11, 1)
    assert changed.job.mt_hash != before.mt_hash


def test_another_encoding_is_another_text_and_what_reads_alike_is_kept(store: JobStore, tmp_path: Path) -> None:
    files = a_book(tmp_path, encoding="cp1252")
    begun(store, replace(files, encoding="mac_roman"))
    finish(store, JobWorker.here())
    read = [row.planned.mt for row in store.rows("j")]
    assert any("ì" in text for text in read)  # so “ of cp1252 reads in mac_roman
    mended = begun(store, replace(files, encoding="cp1252"))
    assert [row.planned.mt for row in store.rows("j")] == [one.mt for one in TALE]
    ascii_ones = sum((one.source + one.mt).isascii() for one in TALE)
    assert mended.replanned
    assert (mended.replanned.kept, mended.replanned.changed) == (ascii_ones, 12 - ascii_ones)
    assert mended.job.encoding == "cp1252"
    assert write_output(store, mended.job, tmp_path / "o.txt").paragraphs == 12


def test_another_format_is_planned_anew(store: JobStore, tmp_path: Path) -> None:
    files = a_book(tmp_path, mt="m.md")
    files.mt.write_text("# *Page* one\n\n" + files.mt.read_text(encoding="utf-8"), encoding="utf-8")
    begun(store, replace(files, format="txt"))
    assert next(store.rows("j")).planned.mt == "# *Page* one"
    marked = begun(store, files).job
    assert next(store.rows("j")).planned.mt == "⟦1⟧Page⟦/1⟧ one"
    assert marked.format == "markdown"
    assert write_output(store, marked, tmp_path / "o.md").paragraphs == 13


def side_by_side(path: Path) -> Path:
    """A bilingual page whose source headings declare no language."""
    blocks = []
    for number, pair in enumerate(TALE):
        if number % 2 == 0:
            blocks += [f"<h2>{pair.source}</h2>", f'<h2 lang="en">{pair.mt}</h2>']
        blocks += [f'<p lang="fr">{pair.source}</p>', f'<p lang="en">{pair.mt}</p>']
    return make_epub(path, paragraphs=[blocks], language="en")


@pytest.mark.parametrize("format", [None, "bilingual-epub"])
def test_a_bilingual_book_is_written_by_the_layout_that_it_was_planned_by(
    store: JobStore, tmp_path: Path, format: str | None
) -> None:
    both = side_by_side(tmp_path / "both.epub")
    found = open_files(JobFiles(None, both, format=format))
    job = plan_job(store, found, RECIPE, id="j", output=str(tmp_path / "o.epub")).job
    count = finish(store, JobWorker.here())
    written = write_output(store, job, tmp_path / "o.epub")
    assert (written.replaced, written.paragraphs) == (count, store.counts("j").total)
    assert written.left_out == ()


def two_englishes(path: Path) -> Path:
    variant = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'.format
    units = "".join(
        f"<tu>{variant('fr', one.source)}{variant('en-GB', 'Quite so.')}{variant('en-US', one.mt)}</tu>" for one in TALE
    )
    path.write_text(f'<tmx version="1.4"><header srclang="fr"/><body>{units}</body></tmx>', encoding="utf-8")
    return path


def test_of_two_kinds_of_a_language_the_one_that_was_named_is_planned_and_written(
    store: JobStore, tmp_path: Path
) -> None:
    memory = two_englishes(tmp_path / "memory.tmx")
    found = open_files(JobFiles(None, memory), target_language="en-US")
    assert found.target_language == "en"  # as passed to models and guards
    job = plan_job(store, found, RECIPE, id="j", output=str(tmp_path / "o.tmx")).job
    assert finish(store, JobWorker.here()) == 12
    assert write_output(store, job, tmp_path / "o.tmx").replaced == 12
    assert (tmp_path / "o.tmx").read_text(encoding="utf-8").count("Quite so.") == 12


def test_a_glossary_that_takes_seconds_to_look_for_is_refused() -> None:
    recipe = replace(RECIPE, glossary=(("a" * 100_000, "b"),))
    with pytest.raises(InputError, match="at most 100,000"):
        complete_recipe(recipe, Model("par3"), source_language="fr", target_language="en")

"""A job is planned to its end or not at all, whoever is killed, and planned anew by whatever decides its texts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ape.books.pairing.pair import Pairing
from ape.errors import InputError, UnknownJob
from ape.jobs.begin import Begun, Opened, begin, open_files
from ape.jobs.files import Files
from ape.jobs.store import Store, Worker
from tests.ape.books.tale import tale
from tests.ape.jobs.making import RECIPE, finish


@dataclass(frozen=True, slots=True)
class Meanwhile(Opened):
    """Files in whose pairing something happens."""

    happens: Callable[[], object] = lambda: None

    def pairing(self) -> Pairing:
        self.happens()
        return Opened.pairing(self)


def a_book(folder: Path) -> Files:
    told = [one for part in tale(12) for one in part]
    for name, texts in (("s.txt", [one.source for one in told]), ("m.txt", [one.mt for one in told])):
        (folder / name).write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return Files(folder / "s.txt", folder / "m.txt")


def opened(files: Files, happens: Callable[[], object] = lambda: None) -> Meanwhile:
    found = open_files(files, source_language="fr", target_language="en")
    return Meanwhile(
        *(getattr(found, name) for name in Opened.__dataclass_fields__),  # type: ignore[misc]
        happens=happens,
    )


def begun(store: Store, files: Files, happens: Callable[[], object] = lambda: None) -> Begun:
    return begin(store, opened(files, happens), RECIPE, id="j", output=str(files.mt.with_name("o.txt")))


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_job_whose_planning_was_killed_is_planned_by_the_next_run(store_url: str, tmp_path: Path) -> None:
    files = a_book(tmp_path)
    code = (
        "import sys; from pathlib import Path; from ape.jobs.store import Store; "
        "from tests.ape.jobs.test_begin import a_book, begun, kill; "
        "begun(Store(sys.argv[1]), a_book(Path(sys.argv[2])), kill)"
    )
    killed = subprocess.run([sys.executable, "-c", code, store_url, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with Store(store_url) as store:
        job = begun(store, files).job
        assert (store.counts(job.id).total, store.counts(job.id).waiting) == (12, 12)
        store.remove(job.id)


def test_two_that_begin_the_same_job_at_once_do_no_harm(store: Store, tmp_path: Path) -> None:
    files, worker = a_book(tmp_path), Worker.here()

    def another_begins_and_finishes() -> None:
        assert begun(store, files).job.id == "j"
        assert finish(store, worker) == 12
        store.update("j", output_hash="what the other wrote")

    late = begun(store, files, another_begins_and_finishes)
    assert (store.counts("j").edited, late.job.output_hash) == (12, "what the other wrote")
    assert late.replanned
    assert late.replanned.kept == 12


def test_one_that_is_stopped_leaves_what_another_has_planned_meanwhile(store: Store, tmp_path: Path) -> None:
    files = a_book(tmp_path)

    def another_begins_and_we_are_stopped() -> None:
        begun(store, files)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begun(store, files, another_begins_and_we_are_stopped)
    assert store.counts("j").waiting == 12


def test_another_that_gives_up_first_does_not_take_our_job_with_it(store: Store, tmp_path: Path) -> None:
    files = a_book(tmp_path)
    begun(store, files, lambda: store.remove_unplanned("j"))
    assert store.counts("j").waiting == 12


def test_a_book_that_can_not_be_paired_leaves_no_job(store: Store, tmp_path: Path) -> None:
    def fail() -> None:
        raise InputError("two different books")

    with pytest.raises(InputError):
        begun(store, a_book(tmp_path), fail)
    with pytest.raises(UnknownJob):
        store.job("j")


def test_a_plan_and_what_it_was_made_of_are_never_at_odds(store: Store, tmp_path: Path) -> None:
    files = a_book(tmp_path)
    before = begun(store, files).job
    files.mt.write_text(
        files.mt.read_text(encoding="utf-8").replace("Page 3", "Page three"), encoding="utf-8"
    )

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begun(store, files, stop)
    assert store.job("j") == before
    changed = begun(store, files)
    assert changed.replanned
    assert (changed.replanned.kept, changed.replanned.changed) == (11, 1)
    assert changed.job.mt_hash != before.mt_hash

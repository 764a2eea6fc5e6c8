"""Book jobs: the MT and the post-edit of each chapter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ape.errors import InputError
from ape.jobs.store import JobStore, JobWorker
from eval.corpus.job_reader import read_jobs
from tests.ape.jobs.job_factory import RECIPE, a_job, a_plan, begin, finish


@pytest.fixture
def store(tmp_path: Path) -> Iterator[JobStore]:
    """An empty job store."""
    with JobStore(f"sqlite:///{tmp_path}/jobs.db") as store:
        yield store


def test_a_job_is_its_mt_and_its_post_edit_by_chapter(store: JobStore) -> None:
    begin(store, 12)
    finish(store, JobWorker.here())
    corpus = read_jobs(store, ["j"])
    assert corpus.systems == ("mt", "model")
    assert [one.id for one in corpus.documents] == ["1 Chapter 0", "2 Chapter 1"]
    assert [len(one.sources) for one in corpus.documents] == [10, 2]
    assert corpus.documents[1].outputs == {"mt": ("The phrase 10.", "The phrase 11."), "model": ("new p10", "new p11")}
    assert (corpus.source_language, corpus.target_language, corpus.name) == ("fr", "en", "A Book")


def test_a_reference_has_a_line_for_each_paragraph(store: JobStore, tmp_path: Path) -> None:
    begin(store, 3)
    finish(store, JobWorker.here())
    human = tmp_path / "human.txt"
    human.write_text("One.\nTwo.\nThree.\n", encoding="utf-8")
    assert read_jobs(store, ["j"], references=[human]).documents[0].references == (("One.", "Two.", "Three."),)


def test_jobs_of_one_book_are_systems_of_one_corpus(store: JobStore) -> None:
    begin(store, 3)
    other = replace(RECIPE, model="larger")
    store.add(a_job("k", recipe=other))
    store.plan("k", a_plan(3, recipe=other))
    for name in ("j", "k"):
        finish(store, JobWorker.here(), id=name)
    assert read_jobs(store, ["j", "k"]).systems == ("mt", "model", "larger")


def test_an_unfinished_job_is_refused(store: JobStore) -> None:
    begin(store, 3)
    with pytest.raises(InputError, match="not finished: 3 of 3 paragraphs wait"):
        read_jobs(store, ["j"])


def test_jobs_of_different_books_are_refused(store: JobStore) -> None:
    begin(store, 3)
    begin(store, 4, id="k")
    for name in ("j", "k"):
        finish(store, JobWorker.here(), id=name)
    with pytest.raises(InputError, match="not of the same book"):
        read_jobs(store, ["j", "k"])

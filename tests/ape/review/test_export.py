"""What a reviewer takes home: the book, tracked changes that give both texts letter for letter, and the rest."""

from __future__ import annotations

import json
from pathlib import Path

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.books.docx import open_docx
from ape.books.docx_tracked import NewDocxParagraph, write_new_docx, write_tracked_docx
from ape.books.tracked_text import TrackedChange, TrackedPiece, accepted_text, rejected_text
from ape.edits.diff import find_edits
from ape.files.hashing import hash_input
from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.review.decisions import ReviewAction, ReviewDecision
from ape.review.export import tracked_pieces, write_review_export
from ape.review.store import ReviewStore
from tests.ape.review.conftest import TEXTS, a_paragraph, a_post_edit
from tests.ape.review.tracked_docx import libreoffice_missing, resolve_in_libreoffice, texts_in_xml

DATE = "2026-11-18T12:00:00Z"


def pieces(mt: str, text: str) -> list[TrackedPiece]:
    out, at = [], 0
    for edit in find_edits(mt, text):
        change = TrackedChange("ape", DATE, str(edit.kind))
        out += [TrackedPiece("same", mt[at : edit.mt_span[0]]), TrackedPiece("removed", edit.before, change)]
        out.append(TrackedPiece("inserted", edit.after, change))
        at = edit.mt_span[1]
    return [one for one in [*out, TrackedPiece("same", mt[at:])] if one.text]


WORDS = st.text(alphabet="ab é「」. \n<&\"'\u202e中א", min_size=1, max_size=40)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_accepting_all_gives_our_text_and_rejecting_all_the_mt(pairs: list[tuple[str, str]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.docx")
        with path.open("wb") as file:
            write_new_docx(file, [NewDocxParagraph(pieces(*pair)) for pair in pairs], language="en")
        assert texts_in_xml(path, accept=True) == [text for _, text in pairs]
        assert texts_in_xml(path, accept=False) == [mt for mt, _ in pairs]


@pytest.mark.subprocess
@pytest.mark.skipif(bool(libreoffice_missing()), reason=libreoffice_missing())
def test_libreoffice_gives_our_text_if_it_accepts_all_and_the_mt_if_it_rejects_all(tmp_path: Path) -> None:
    pairs = [(mt, text) for _, mt, text in TEXTS] + [
        ("一二三。她来了", "一二四。他来了"),
        ("a  b\nc <x>", "a  d\nc <y> & z"),
    ]
    path = tmp_path / "tracked.docx"
    with path.open("wb") as file:
        write_new_docx(file, [NewDocxParagraph(pieces(*pair)) for pair in pairs], language="en")
    assert resolve_in_libreoffice(path, tmp_path / "accepted", accept=True) == [text for _, text in pairs]
    assert resolve_in_libreoffice(path, tmp_path / "rejected", accept=False) == [mt for mt, _ in pairs]


def word_file(path: Path) -> Path:
    document = docx.Document()
    first = document.add_paragraph("Anne put his ")
    first.add_run("old").italic = True
    first.add_run(" lamp down.")
    document.add_paragraph("It rained.")
    document.save(str(path))
    return path


def test_changes_are_tracked_inside_the_own_word_file(tmp_path: Path) -> None:
    book = open_docx(word_file(tmp_path / "book.docx"))
    texts = {one.id: one.text for one in book.paragraphs()}
    new = {name: text.replace("his", "her").replace("rained", "was raining") for name, text in texts.items()}
    path = tmp_path / "tracked.docx"
    with path.open("wb") as file:
        counts, untracked = write_tracked_docx(book, file, lambda name: pieces(texts[name], new[name]))
    assert (counts.replaced, untracked) == (2, [])
    assert texts_in_xml(path, accept=True) == ["Anne put her old lamp down.", "It was raining."]
    assert texts_in_xml(path, accept=False) == ["Anne put his old lamp down.", "It rained."]
    read = docx.Document(str(path))
    assert [run.text for run in read.paragraphs[0].runs if run.italic] == ["old"]
    assert [comment.text for comment in read.comments] == ["pronoun", "verb form"]
    assert {comment.author for comment in read.comments} == {"ape"}


def test_a_change_that_moves_formatting_is_left_untracked_and_named(tmp_path: Path) -> None:
    book = open_docx(word_file(tmp_path / "book.docx"))
    first, text = next((one.id, one.text) for one in book.paragraphs())
    change = TrackedChange("ape", DATE)
    head, tail = text.split("⟦1⟧old⟦/1⟧ ")
    moved = [TrackedPiece("inserted", "⟦1⟧old⟦/1⟧ ", change), TrackedPiece("same", head)]
    moved += [TrackedPiece("removed", "⟦1⟧old⟦/1⟧ ", change), TrackedPiece("same", tail)]
    path = tmp_path / "tracked.docx"
    with path.open("wb") as file:
        _, untracked = write_tracked_docx(book, file, lambda name: moved if name == first else None)
    assert texts_in_xml(path, accept=True)[0] == "Anne put his old lamp down."
    assert untracked == [first]


@pytest.fixture
def text_job(store: JobStore, job: Job, tmp_path: Path) -> Job:
    """The book of the review as files."""
    mt = tmp_path / "mt.txt"
    mt.write_text("\n\n".join(text[1] for text in TEXTS) + "\n", encoding="utf-8")
    from ape.books.formats import open_book

    plan = [a_paragraph(n, TEXTS[n][0], one.text) for n, one in enumerate(open_book(mt).paragraphs())]
    plan = [type(one)(**{**{f: getattr(one, f) for f in one.__slots__}, "id": paragraph.id})
            for one, paragraph in zip(plan, open_book(mt).paragraphs(), strict=True)]  # fmt: skip
    store.add_results(job.id, [(one, a_post_edit(one.mt, TEXTS[n][2]), 1.0) for n, one in enumerate(plan)])
    store.plan(job.id, plan)
    changes = {"mt": str(mt), "mt_hash": hash_input(mt), "source": "", "name": "mt.txt"}
    store.update(job.id, **changes)  # type: ignore[arg-type]
    with store.database.write_transaction() as connection:
        from ape.jobs.tables import jobs

        connection.execute(jobs.update().values(format="txt", file_options_json=""))
    return store.job(job.id)


def test_every_export_of_a_review_is_written(reviews: ReviewStore, text_job: Job, tmp_path: Path) -> None:
    rows = list(reviews.paragraphs(text_job.id))
    first = rows[0]
    reviews.decide(text_job, [ReviewDecision(first.id, first.version, ReviewAction.REJECT)], author="Anna")
    comment = ReviewDecision(rows[1].id, "", ReviewAction.COMMENT, text="Check <this>.")
    reviews.decide(text_job, [comment], author="Anna")
    for name in ("reviewed-book", "tracked-docx", "reviewed-xliff", "side-by-side", "review-report", "decisions"):
        write_review_export(reviews, text_job, tmp_path / name, name)
    wanted = [TEXTS[0][1], TEXTS[1][2], TEXTS[2][2], TEXTS[3][1], TEXTS[4][1]]
    assert (tmp_path / "reviewed-book").read_text(encoding="utf-8").split("\n\n") == [*wanted[:4], wanted[4] + "\n"]
    assert texts_in_xml(tmp_path / "tracked-docx", accept=True) == wanted
    assert texts_in_xml(tmp_path / "tracked-docx", accept=False) == [text[1] for text in TEXTS]
    xliff = (tmp_path / "reviewed-xliff").read_text(encoding="utf-8")
    assert xliff.count('state="final"') == 1
    assert "Check &lt;this&gt;." in xliff
    side = (tmp_path / "side-by-side").read_text(encoding="utf-8")
    assert "<ins>was raining</ins>" in side
    assert "Anna" in (tmp_path / "review-report").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in (tmp_path / "decisions").read_text(encoding="utf-8").splitlines()]
    assert [line["type"] for line in lines] == ["decision", "decision", "paragraph"]
    assert lines[2]["edits"][0]["state"] == "rejected"


def test_tracked_pieces_give_both_texts(reviews: ReviewStore, job: Job) -> None:
    for one in reviews.paragraphs(job.id):
        found = tracked_pieces(one, date=DATE)
        assert accepted_text(found) == one.text
        assert rejected_text(found) == one.row.planned.mt

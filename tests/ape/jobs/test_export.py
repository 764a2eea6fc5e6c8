"""Exports in every format are valid and can be read back."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ape.books.formats import ExportFormat, open_book
from ape.edits.diff import find_edits
from ape.errors import InputError
from ape.jobs.export import export_rows
from ape.jobs.job import Job, JobRecipe, JobState
from ape.jobs.job_paragraph import JobParagraph, ParagraphState, PlannedParagraph
from ape.passage.result import Decision, Finding, PostEdit, Severity, Usage
from tests.ape.books.schemas import assert_valid_tmx, assert_valid_xliff

NOW = datetime(2026, 1, 2, tzinfo=UTC)
JOB = Job(
    id="j1",
    owner="",
    name="The Ferry",
    source="a.epub",
    source_hash="",
    mt="b.epub",
    mt_hash="",
    output="c.epub",
    format="epub",
    recipe=JobRecipe("small", "r1", "chat@1", "fr", "en"),
    state=JobState.DONE,
    created=NOW,
    updated=NOW,
)


def result(mt: str, text: str, decision: Decision = Decision.EDITED) -> PostEdit:
    finding = Finding("length", Severity.WARN, "A little long.", 1)
    return PostEdit("x", text, decision, (finding,), find_edits(mt, text), 0.25, "small", "chat@1", Usage())


def planned(position: int, source: str, mt: str, chapter: int = 0) -> PlannedParagraph:
    return PlannedParagraph(
        f"OEBPS/c{chapter}.xhtml#{position}", position, chapter, f"Chapter {chapter}", 0, source, mt
    )


def rows() -> Iterator[JobParagraph]:
    first = planned(0, "Il ⟦1⟧pleut⟦/1⟧.", "He ⟦1⟧rains⟦/1⟧.")
    yield JobParagraph(first, ParagraphState.DONE, result(first.mt, "It ⟦1⟧rains⟦/1⟧ & <pours>\t“now”."))
    second = planned(1, "Voir⟦1/⟧ici.", "See⟦1/⟧here.")
    yield JobParagraph(second, ParagraphState.DONE, result(second.mt, second.mt, Decision.REJECTED))
    yield JobParagraph(
        planned(2, "Une\nligne.", "A\nline.", 1), ParagraphState.QUARANTINED, reason="The engine failed 3 times."
    )
    yield JobParagraph(planned(3, "", "* * *", 1), ParagraphState.SKIPPED, reason="no words in it")
    yield JobParagraph(planned(4, "⟦1⟧Mal⟦2⟧ fermé⟦/1⟧.", "⟦1⟧Badly⟦2⟧ closed⟦/1⟧.", 1), ParagraphState.WAITING)


def exported(format: ExportFormat) -> bytes:
    out = io.BytesIO()
    assert export_rows(rows(), out, format=format, job=JOB) == 5
    return out.getvalue()


def test_json_lines_have_everything() -> None:
    lines = [json.loads(line) for line in exported("jsonl").splitlines()]
    assert lines[0] | {"edits": []} == {
        "id": "OEBPS/c0.xhtml#0",
        "chapter": 0,
        "title": "Chapter 0",
        "source": "Il ⟦1⟧pleut⟦/1⟧.",
        "mt": "He ⟦1⟧rains⟦/1⟧.",
        "post_edit": "It ⟦1⟧rains⟦/1⟧ & <pours>\t“now”.",
        "decision": "edited",
        "findings": [{"guard": "length", "severity": "warn", "message": "A little long.", "attempt": 1}],
        "edits": [],
        "edit_rate": 0.25,
        "state": "done",
        "reason": "",
        "how": "structure",
        "confidence": 1.0,
        "model": "small",
        "prompt": "chat@1",
    }
    assert lines[0]["edits"][0] | {"kind": ""} == {
        "kind": "",
        "before": "He",
        "after": "It",
        "mt_span": [0, 2],
        "span": [0, 2],
        "reason": "",
    }
    assert (lines[2]["post_edit"], lines[2]["decision"], lines[2]["state"], lines[2]["reason"]) == (
        None,
        None,
        "quarantined",
        "The engine failed 3 times.",
    )


def test_a_table_has_a_row_for_each() -> None:
    table = [line.split("\t") for line in exported("tsv").decode().splitlines()]
    assert table[0] == ["id", "chapter", "source", "mt", "post_edit", "decision", "state", "reason"]
    assert table[1][4] == "It ⟦1⟧rains⟦/1⟧ & <pours> “now”."
    assert table[3][2:] == ["Une ligne.", "A line.", "", "", "quarantined", "The engine failed 3 times."]
    assert {len(row) for row in table} == {8}


def test_text_is_the_book_as_it_stands_without_marks() -> None:
    assert exported("txt").decode() == (
        "It rains & <pours>\t“now”.\n\nSeehere.\n\nA\nline.\n\n* * *\n\nBadly closed.\n"
    )


def test_tmx_is_valid() -> None:
    assert_valid_tmx(exported("tmx"))


def test_xliff_is_valid() -> None:
    assert_valid_xliff(exported("xliff"), "2.0")


@pytest.mark.parametrize("format", ["tmx", "xliff"])
def test_pairs_are_read_back_with_their_marks(tmp_path: Path, format: ExportFormat) -> None:
    path = tmp_path / f"book.{format}"
    path.write_bytes(exported(format))
    book = open_book(path)
    assert (book.source_language, book.language) == ("fr", "en")
    found = list(book.paragraphs())
    assert [(item.source, item.text) for item in found][:3] == [
        ("Il ⟦1⟧pleut⟦/1⟧.", "It ⟦1⟧rains⟦/1⟧ & <pours>\t“now”."),
        ("Voir⟦1/⟧ici.", "See⟦1/⟧here."),
        ("Une\nligne.", "A\nline."),
    ]
    assert len(found) == (4 if format == "tmx" else 5)


def test_xliff_states_tell_what_is_done() -> None:
    text = exported("xliff").decode()
    assert [part.partition('"')[0] for part in text.split('<segment state="')[1:]] == ["translated", *["initial"] * 4]
    assert text.count("<file ") == 2
    assert '<unit id="u1" name="OEBPS/c0.xhtml#0">' in text
    assert '<note category="reason">no words in it</note>' in text


@pytest.mark.parametrize("format", ["jsonl", "tsv", "txt", "tmx", "xliff"])
def test_half_a_character_does_not_stop_an_export(format: ExportFormat) -> None:
    out = io.BytesIO()
    row = JobParagraph(planned(0, "a\ud800", "b\x00\ud800"), ParagraphState.WAITING)
    export_rows([row], out, format=format, job=JOB)
    assert out.getvalue().decode()


def test_an_empty_job_has_no_xliff() -> None:
    with pytest.raises(InputError, match="no paragraphs"):
        export_rows([], io.BytesIO(), format="xliff", job=JOB)


def test_an_unknown_format_is_a_clear_sentence() -> None:
    with pytest.raises(InputError, match="Choose one of: jsonl, tsv, tmx, xliff, txt"):
        export_rows([], io.BytesIO(), format="pdf", job=JOB)  # type: ignore[arg-type]

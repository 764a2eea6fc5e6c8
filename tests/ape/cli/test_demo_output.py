"""What the demo shows: names repaired before a model is asked, and a summary for a translator."""

from __future__ import annotations

import io
import uuid
from dataclasses import replace

import pytest
from rich.console import Console

from ape.cli.demo_output import show_changes, show_names, show_summary
from ape.jobs.book_names import names_only_result
from ape.passage.result import Finding, Severity
from ape.sample import SAMPLES, load_sample
from ape.sample.chapter import EditedParagraph, PreparedParagraph, prepare_chapters

pytest.importorskip("pypinyin", reason="reads Chinese names aloud")


@pytest.fixture(scope="module")
def prepared() -> list[PreparedParagraph]:
    return prepare_chapters([load_sample(name) for name in SAMPLES])


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=120)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def edited(prepared: list[PreparedParagraph]) -> list[EditedParagraph]:
    """The chapters as the ledger alone leaves them."""
    return [
        EditedParagraph(one.planned, one.repair, names_only_result(one.planned, one.repair, "en")) for one in prepared
    ]


def test_one_heroine_has_one_name_in_each_chapter(prepared: list[PreparedParagraph], console: Console) -> None:
    show_names(prepared, console)
    text = shown(console)
    assert "Matilda → Mathilde ×2" in text
    assert "Mathilda → Mathilde ×2" in text
    assert "Yan Qiu → Yanqiu" in text
    assert "Shen Yanqiu Autumn" not in "".join(one.repair.text for one in prepared)


def test_a_sample_keeps_all_its_paragraphs(prepared: list[PreparedParagraph]) -> None:
    assert len(prepared) == sum(len(load_sample(name).paragraphs) for name in SAMPLES)
    assert len({one.planned.id for one in prepared}) == len(prepared)


def test_the_summary_counts_changes_and_compares_with_the_translator(
    prepared: list[PreparedParagraph], console: Console
) -> None:
    done = edited(prepared)
    show_summary(done, [load_sample(name) for name in SAMPLES], console, seconds=12.0, model="tiny")
    text = shown(console)
    changes = sum(len(one.result.edits) for one in done)
    assert f"{changes} changes in " in text
    assert "names" in text
    for row in ("machine translation", "after the names", "post-edit"):
        assert row in text


def test_a_short_demo_knows_the_names_of_the_whole_chapter(console: Console) -> None:
    samples = [load_sample(name) for name in SAMPLES]
    short = prepare_chapters(samples, first=2)
    assert [one.planned.chapter for one in short] == [0, 0, 1, 1]
    assert len(short[0].names.ledger.entities) == len(prepare_chapters(samples)[0].names.ledger.entities)
    show_summary(edited(short), samples, console, seconds=12.0, model="tiny")
    assert "of 4 passages" in shown(console)


def test_changes_and_findings_are_printed_on_request(prepared: list[PreparedParagraph], console: Console) -> None:
    first = edited(prepared)[0]
    finding = Finding("length", Severity.REJECT, "Too long.", 1)
    result = replace(first.result, id=uuid.uuid4().hex, findings=(finding,))
    show_changes([EditedParagraph(first.planned, first.repair, result)], console)
    assert "attempt 1, length: Too long." in shown(console)

"""Parser of error lists: quoted spans with category and severity."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.passage.segment import Draft
from eval.judge import Unscored
from eval.judge.error_spans import SpanError, TranslationErrors, read_errors
from eval.judge.quotes import find_quote

TEXT = "She posed the lamp. “It makes cold,” he said, and the he-goat left; she posed it again."
SOURCE = "Elle posa la lampe. « Il fait froid », dit-elle, et le bouc s’en alla."


def line(quote: str, category: str = "literal", severity: str = "minor") -> str:
    return json.dumps({"quote": quote, "category": category, "severity": severity})


def read(*lines: str, finish: str = "stop", source: str = SOURCE) -> TranslationErrors | Unscored:
    listed = "\n".join(lines)
    return read_errors(Draft(f"It is odd.\n<errors>\n{listed}\n</errors>", finish), TEXT, source=source)


def marked(found: TranslationErrors | Unscored) -> TranslationErrors:
    assert isinstance(found, TranslationErrors)
    return found


def test_an_error_has_the_span_of_its_quote_and_its_mqm_weight() -> None:
    found = marked(read(line("It makes cold"), line("he said", "reference", "Major"), line("posed the lamp")))
    assert found.errors[0] == SpanError("literal", "minor", 21, 34)
    assert TEXT[21:34] == "It makes cold"
    assert [error.weight for error in found.errors] == [1, 5, 1]
    assert found.penalty == 7  # by hand
    assert not found.dropped


def test_an_omission_is_quoted_from_the_source() -> None:
    found = marked(read(line("s'en alla", "omission", "critical")))
    (error,) = found.errors
    assert error.side == "source"
    assert SOURCE[error.start : error.end] == "s’en alla"
    assert found.penalty == 25


def test_quotes_not_in_the_text_are_dropped_and_counted() -> None:
    found = marked(read(line("It makes cold"), line("the purple elephant"), line("posa la lampe")))
    assert len(found.errors) == 1
    assert found.dropped == {"not_in_text": 2}


def test_off_menu_unreadable_and_repeated_entries_are_dropped_and_counted() -> None:
    found = marked(
        read(
            line("posed"),
            line("posed"),
            line("posed"),
            line("cold", "ugliness"),
            line("cold", severity="awful"),
            '{"quote": "cold", "category": 3, "severity": "minor"}',
            "and so on",
        )
    )
    # "posed" occurs twice, so two errors may quote it.
    assert [(error.start, error.end) for error in found.errors] == [(4, 9), (72, 77)]
    assert found.dropped == {"repeated": 1, "off_menu": 2, "unreadable": 2}


@pytest.mark.parametrize("listed", ["none", "None.", "", "[]", "```\n[]\n```"])
def test_an_empty_list_is_an_answer(listed: str) -> None:
    found = marked(read(listed))
    assert (found.errors, found.penalty, dict(found.dropped)) == ((), 0, {})


@pytest.mark.parametrize(
    "listed",
    [
        f"[{line('he said')},\n {line('posed')}]",
        f"```json\n{line('he said')}\n{line('posed')}\n```",
        f"{line('he said')},\n{line('posed')},",
        f'{{"errors": [{line("he said")}, {line("posed")}]}}',
    ],
)
def test_lists_are_read_in_several_formats(listed: str) -> None:
    assert len(marked(read(listed)).errors) == 2


@pytest.mark.parametrize(
    ("answer", "finish", "why"),
    [
        ("There is nothing wrong with it.", "stop", "no_verdict"),
        ("I begin with the first", "length", "cut_off"),
        (f"<errors>\n{line('he said')}\n{{", "length", "cut_off"),
        ("<errors>\nIt is all fine.\n</errors>", "stop", "off_menu"),
        (f"<errors>\n{line('the words', 'mistranslation')}\n</errors>", "stop", "unfounded"),
    ],
)
def test_an_unusable_list_is_unscored(answer: str, finish: str, why: str) -> None:
    assert read_errors(Draft(answer, finish), TEXT, source=SOURCE) == Unscored(why, (answer,))  # type: ignore[arg-type]


def test_the_last_list_counts() -> None:
    answer = f"<errors>{line('he said')}</errors> No, wait.\n<errors>none</errors>"
    assert marked(read_errors(Draft(answer), TEXT)).errors == ()


def test_source_categories_are_off_menu_without_a_source() -> None:
    found = marked(read(line("cold", "mistranslation"), line("cold"), source=""))
    assert (len(found.errors), found.dropped) == (1, {"off_menu": 1})


def test_a_quote_may_contain_a_neutralised_delimiter() -> None:
    text = "He typed <verdict> twice."
    found = read_errors(Draft(f"<errors>{line('typed ‹verdict› twice')}</errors>"), text)
    assert [(error.start, error.end) for error in marked(found).errors] == [(3, 24)]


@pytest.mark.parametrize(
    ("quote", "text", "spans"),
    [
        ("he", "The he-goat said he left.", [(4, 6), (17, 19)]),
        ('"it  makes"', "“It\nmakes” noise", [(0, 10)]),
        ("well...", "Well… then", [(0, 5)]),
        ("茶壶", "他放下茶壶坐下", [(3, 5)]),
        ("", "anything", []),
        (" ", "any thing", []),
        ("a.b", "axb a.b", [(4, 7)]),
    ],
)
def test_quotes_are_found_despite_typography(quote: str, text: str, spans: list[tuple[int, int]]) -> None:
    assert find_quote(quote, text) == spans


@given(st.text(min_size=1).filter(str.strip), st.text(), st.text())
def test_an_exact_quote_is_always_found(quote: str, before: str, after: str) -> None:
    text = f"{before} {quote.strip()} {after}"
    assert find_quote(quote, text)
    assert all(0 <= start < end <= len(text) for start, end in find_quote(quote, text))

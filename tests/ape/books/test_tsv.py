"""TSV: a new text replaces its cell, and the rest of the line is unchanged."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from ape.books.book import Book
from ape.books.tsv import open_tsv
from ape.errors import InputError

TABLE = "Il dit « non ».\tHe said no.\n“Oui.”\t“Yes.\n"


def written(book: Book, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    book.write(out, (new or {}).get)
    return out.getvalue()


def tsv(path: Path, text: str | bytes) -> Book:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_tsv(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book"


def test_a_table_in_latin_1_says_what_it_can_hold(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes("Un été.\tA summer.\n".encode("iso8859-1"))
    a_book = open_tsv(path, encoding="iso8859-1")
    assert a_book.fit_text("“A — summer…”") == '"A -- summer..."'
    with pytest.raises(InputError, match=r"'夏' \(U\+590F\), which the file's encoding, iso8859-1"):
        a_book.fit_text("A 夏.")
    again = tmp_path / "b.tsv"
    again.write_bytes(written(a_book, {"line1": "“A — summer…”"}))
    assert next(open_tsv(again, encoding="iso8859-1").paragraphs()).text == '"A -- summer..."'


def test_a_table_of_two_columns_needs_no_header(path: Path) -> None:
    book = tsv(path, TABLE)
    assert [(item.id, item.source, item.text) for item in book.paragraphs()] == [
        ("line1", "Il dit « non ».", "He said no."),
        ("line2", "“Oui.”", "“Yes."),
    ]
    assert written(book, {"line2": "“Yes,\tyes.\n”"}).decode() == TABLE.replace("“Yes.", "“Yes, yes. ”")


def test_a_header_names_the_columns(path: Path) -> None:
    book = tsv(path, "ID\tMT\tnote\tSource\tchapter\na\tYes.\t\tOui.\tI\nb\tNo.\tx\tNon.\tII\n")
    assert [(item.id, item.chapter, item.source, item.text) for item in book.paragraphs()] == [
        ("a", 0, "Oui.", "Yes."),
        ("b", 1, "Non.", "No."),
    ]
    assert written(book, {"a": "Yea."}).endswith(b"a\tYea.\t\tOui.\tI\nb\tNo.\tx\tNon.\tII\n")


def test_quotes_of_dialogue_are_no_quoting(path: Path) -> None:
    text = '"Oui," dit-il.\t"Yes," he said.\n"Non."\t"No."\n'
    assert [item.text for item in tsv(path, text).paragraphs()] == ['"Yes," he said.', '"No."']


def test_a_quoted_table_is_read_as_one(path: Path) -> None:
    rows = [["source", "mt"], ['"Oui," dit-il.', '"Yes," he\tsaid.\nAgain.'], ["Non.", "No."], ["Si.", "Yes."]]
    held = io.StringIO()
    csv.writer(held, delimiter="\t", lineterminator="\r\n").writerows(rows)
    book = tsv(path, held.getvalue())
    assert [item.text for item in book.paragraphs()] == ['"Yes," he\tsaid.\nAgain.', "No.", "Yes."]
    assert written(book) == held.getvalue().encode()
    ids = [item.id for item in book.paragraphs()]
    new = written(book, {ids[0]: 'a "b"', ids[1]: '"No."'}).decode()
    read = list(csv.reader(io.StringIO(new, newline=""), delimiter="\t"))
    assert read == [rows[0], ['"Oui," dit-il.', 'a "b"'], ["Non.", '"No."'], rows[3]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\tb\nonly one\n", "Line 2 of book has 1 columns, and the first line has 2"),
        ("a\tb\n\na\tb\tc\n", "Line 3 of book has 3 columns"),
        ("a\tb\tc\n", "has 3 columns and no header"),
        ("only\n", "has 1 column and no"),
        ("\n", "is empty"),
    ],
)
def test_a_bad_table_is_a_clear_sentence(path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        list(tsv(path, text).paragraphs())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("text", [TABLE, 'a\t"b"""\n"c"\td'])
def test_an_unedited_file_is_byte_identical(path: Path, text: str, encoding: str, end: str) -> None:
    content = text.replace("\n", end).encode(encoding)
    path.write_bytes(content)
    book = open_tsv(path, encoding=encoding)
    assert written(book) == content
    same = {item.id: item.text for item in book.paragraphs()}
    assert len(same) > 1
    assert written(book, same) == content

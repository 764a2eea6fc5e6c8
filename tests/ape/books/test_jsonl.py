"""JSON Lines: a new text replaces its string, and the rest of the line is unchanged."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.books.book import Book
from ape.books.jsonl import open_jsonl
from ape.errors import InputError

ODD = (
    '{"mt" : "He said \\"no\\".\\u00e9" ,"source":"Il dit « non ».", "note": {"mt": "not this"}, "n": 1.50}\n'
    '  {"id": 7, "source": "Oui.", "mt": "Yes.", "chapter": "One", "extra": [1,  2]}  \n'
    "\n"
    '{"id": 7, "source": "Non.", "mt": "No.", "chapter": "Two"}'
)


def written(book: Book, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    book.write(out, (new or {}).get)
    return out.getvalue()


def jsonl(path: Path, text: str | bytes) -> Book:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return open_jsonl(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book"


def test_json_holds_every_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"source": "Un été.", "mt": "Summer."}\n'.encode("iso8859-1"))
    assert open_jsonl(path, encoding="iso8859-1").fit_text("“夏”") == "“夏”"


def test_a_line_of_json_is_a_pair(path: Path) -> None:
    book = jsonl(path, ODD)
    assert book.bilingual
    assert [(item.id, item.chapter, item.title, item.source, item.text) for item in book.paragraphs()] == [
        ("line1", 0, "", "Il dit « non ».", 'He said "no".é'),
        ("7", 0, "One", "Oui.", "Yes."),
        ("7~2", 1, "Two", "Non.", "No."),
    ]


def test_only_the_string_changes(path: Path) -> None:
    new = written(jsonl(path, ODD), {"line1": 'She said “no”.\n"', "7~2": "Never."}).decode()
    assert new == ODD.replace('"He said \\"no\\".\\u00e9"', '"She said “no”.\\n\\""').replace('"No."', '"Never."')


def test_a_line_in_ascii_stays_in_ascii(path: Path) -> None:
    assert written(jsonl(path, b'{"text": "caf\\u00e9"}\n'), {"line1": "thé “vert”"}) == (
        b'{"text": "th\\u00e9 \\u201cvert\\u201d"}\n'
    )


def test_json_lines_without_a_source_are_a_book_of_one_language(path: Path) -> None:
    book = jsonl(path, '{"text": "One."}\n{"text": "Two."}\n')
    assert not book.bilingual
    assert [(item.text, item.source) for item in book.paragraphs()] == [("One.", None), ("Two.", None)]


@pytest.mark.parametrize("keys", [("source", "mt"), ("src", "target"), ("source", "translation")])
def test_fields_have_several_names(path: Path, keys: tuple[str, str]) -> None:
    book = jsonl(path, json.dumps({keys[0]: "Oui.", keys[1]: "Yes."}))
    assert [(item.source, item.text) for item in book.paragraphs()] == [("Oui.", "Yes.")]


def test_what_is_missing_is_skipped_with_the_reason(path: Path) -> None:
    lines = [{"source": "a", "mt": "b"}, {"source": "a"}, {"source": "a", "mt": None}, {"source": " ", "mt": "b"}]
    book = jsonl(path, "\n".join(map(json.dumps, lines)))
    assert [item.skip for item in book.paragraphs()] == [
        "",
        "no translation to repair",
        "no translation to repair",
        "no source to compare it with",
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nothing", "{ is missing at column 1"),
        ('["a"]', "{ is missing"),
        ('{"mt": "a"', ", is missing at column 11"),
        ('{"mt": }', "not a JSON object"),
        ('{"mt": "a"} more', "something follows"),
        ('{"mt": "a" "b": 1}', ", is missing"),
        ("{mt: 1}", '" is missing'),
        ('{"mt": "a\tb"}', "control character"),
        ('{"source": "a", "mt": 5}', "'mt' is not a string but '5'"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_is_named(path: Path, line: str, why: str) -> None:
    with pytest.raises(InputError, match=r"^Line 3 of book") as caught:
        list(jsonl(path, '{"source": "a", "mt": "b"}\n\n' + line).paragraphs())
    assert why in str(caught.value)


@pytest.mark.parametrize(("text", "why"), [("", "is empty"), ('{"foo": 1}', "'foo'")])
def test_a_file_without_a_text_is_refused(path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        jsonl(path, text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    extra=st.dictionaries(st.text(max_size=4), json_values, max_size=4),
    text=st.text(min_size=1).filter(lambda text: text.strip()),
    ascii_only=st.booleans(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" , ", "  :\t")]),
)
def test_json_means_the_same_but_for_the_text(
    tmp_path_factory: pytest.TempPathFactory,
    extra: dict[str, object],
    text: str,
    ascii_only: bool,
    separators: tuple[str, str],
) -> None:
    whole = {"source": "Oui.", **extra, "mt": "Yes.", "id": "x"}
    line = json.dumps(whole, ensure_ascii=ascii_only, separators=separators)
    book = jsonl(tmp_path_factory.getbasetemp() / "any.jsonl", line)
    assert written(book) == line.encode()
    if "⟦" not in text:
        assert json.loads(written(book, {"x": text})) == whole | {"mt": text}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_an_unedited_file_is_byte_identical(path: Path, encoding: str, end: str) -> None:
    content = ODD.replace("\n", end).encode(encoding)
    path.write_bytes(content)
    book = open_jsonl(path, encoding=encoding)
    assert written(book) == content
    same = {item.id: item.text for item in book.paragraphs()}
    assert len(same) > 1
    assert written(book, same) == content

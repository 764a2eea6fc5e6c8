"""A manifest that can't be carried out is refused with all that is wrong in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.batch.manifest import read_manifest, refuse_problems
from ape.errors import InputError
from tests.ape.batch.library import make_library, write_manifest


def test_books_are_sorted_by_adapter_and_then_as_in_the_file(tmp_path: Path) -> None:
    books = make_library(tmp_path, 4, paragraphs=2, formats=("txt",))
    more = {0: {"adapter": "b"}, 1: {"adapter": "a"}, 2: {"adapter": "b"}, 3: {"adapter": "a"}}
    manifest = read_manifest(write_manifest(tmp_path / "m.csv", books, more))
    assert [(book.adapter, book.line) for book in manifest.books] == [("a", 3), ("a", 5), ("b", 2), ("b", 4)]


def test_json_lines_with_paths_relative_to_the_manifest(tmp_path: Path) -> None:
    make_library(tmp_path, 1, paragraphs=2, formats=("txt",))
    row = {"source": "source-book-00000.txt", "mt": "mt-book-00000.txt", "output": "out/a.txt"}
    (tmp_path / "m.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (book,) = read_manifest(tmp_path / "m.jsonl").books
    assert book.files.mt == tmp_path / "mt-book-00000.txt"
    assert book.adapter == "default"


def test_every_mistake_is_named_with_its_line(tmp_path: Path) -> None:
    books = make_library(tmp_path, 4, paragraphs=2, formats=("txt",))
    books[0].mt.unlink()
    more = {2: {"output": str(books[1].output)}, 3: {"output": str(books[3].mt)}}
    manifest = read_manifest(write_manifest(tmp_path / "m.csv", books, more))
    assert [book.line for book in manifest.books] == [3]
    messages = {one.line: one.message for one in manifest.problems}
    assert "There is no file" in messages[2]
    assert "is the output of line 3 too" in messages[4]
    assert "is the input itself" in messages[5]
    with pytest.raises(InputError, match=r"3 books of the manifest can't be edited.*\n  line 2: "):
        refuse_problems(manifest.problems)


def test_an_unknown_column_is_named(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("mt,output,adaptor\na.txt,b.txt,x\n", encoding="utf-8")
    (problem,) = read_manifest(tmp_path / "m.csv").problems
    assert "adaptor" in problem.message


def test_a_manifest_without_books_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("mt,output\n", encoding="utf-8")
    with pytest.raises(InputError, match="lists no books"):
        read_manifest(tmp_path / "m.csv")

"""Formats are detected by suffix or content; unknown ones are refused with a message."""

from __future__ import annotations

import inspect
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

from ape.books.formats import FORMATS, detect_format, open_book
from ape.errors import InputError


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_has_an_opener_that_takes_the_same_arguments(name: str) -> None:
    module, function = FORMATS[name].opener.split(":")
    opener = getattr(import_module(module), function)
    taken = {"path", "encoding", "source_language", "target_language"}
    assert taken <= set(inspect.signature(opener).parameters)


def test_no_two_formats_share_an_ending() -> None:
    suffixes = [suffix for known in FORMATS.values() for suffix in known.suffixes]
    assert len(suffixes) == len(set(suffixes))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"<!DOCTYPE html><p>a</p>", "html"),
        (b"\xef\xbb\xbf<html><p>a</p></html>", "html"),
        ('<?xml version="1.0"?><tmx version="1.4"></tmx>'.encode("utf-16"), "tmx"),
        (b'<?xml version="1.0"?>\n<xliff version="2.0"></xliff>', "xliff"),
        (b'{"source": "a", "mt": "b"}\n{"source": "c", "mt": "d"}\n', "jsonl"),
        (b"a\tb\nc\td\ne\tf", "tsv"),
        (b"Once upon a time.\n\nThe end.\n", "txt"),
        (b"<3 is how we write love.\n", "txt"),
    ],
)
def test_a_file_without_a_known_ending_is_looked_into(tmp_path: Path, content: bytes, name: str) -> None:
    path = tmp_path / "upload.bin"
    path.write_bytes(content)
    assert detect_format(path) == name


def test_the_ending_decides_whatever_its_case(tmp_path: Path) -> None:
    assert detect_format(tmp_path / "BOOK.EPUB") == "epub"


def test_a_zip_is_known_by_its_entries(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "")
    assert detect_format(path) == "docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme", "")
    with pytest.raises(InputError, match="neither an EPUB nor a Word document"):
        detect_format(path)


def test_what_can_not_be_opened_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(InputError, match="There is no file"):
        open_book(path)
    with pytest.raises(InputError, match="is not a regular file"):
        open_book(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"a\.txt is empty"):
        open_book(path)
    path.write_bytes(b"x")
    with pytest.raises(InputError, match=r"no format 'word'.*txt, markdown, html"):
        open_book(path, format="word")
    (tmp_path / "old").write_bytes(b"%PDF-1.7")
    with pytest.raises(InputError, match="Save it as DOCX or EPUB"):
        open_book(tmp_path / "old")

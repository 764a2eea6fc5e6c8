"""The formats of books that we read and write, by name."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ape.books.book import Book
from ape.errors import InputError

HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class BookFormat:
    """A format: the endings of its files' names, and the function that opens one, imported when it is used.

    An opener is called as `open_x(path, encoding=…, source_language=…, target_language=…)`.
    """

    title: str
    opener: str
    suffixes: tuple[str, ...] = ()


# The bilingual ones share their endings with the others; those look whether a file is bilingual.
FORMATS: Mapping[str, BookFormat] = {
    "txt": BookFormat("plain text", "ape.books.txt:open_text", (".txt", ".text")),
    "markdown": BookFormat("Markdown", "ape.books.markdown:open_markdown", (".md", ".markdown", ".mkd")),
    "html": BookFormat("HTML", "ape.books.html:open_html", (".html", ".htm", ".xhtml", ".xht")),
    "epub": BookFormat("EPUB", "ape.books.epub:open_epub", (".epub",)),
    "docx": BookFormat("Word", "ape.books.docx:open_docx", (".docx",)),
    "jsonl": BookFormat("JSON Lines", "ape.books.jsonl:open_jsonl", (".jsonl", ".ndjson")),
    "tsv": BookFormat("tab-separated values", "ape.books.tsv:open_tsv", (".tsv", ".tab")),
    "tmx": BookFormat("TMX", "ape.books.tmx:open_tmx", (".tmx",)),
    "xliff": BookFormat("XLIFF", "ape.books.xliff:open_xliff", (".xlf", ".xliff", ".mxliff", ".sdlxliff")),
    "bilingual-html": BookFormat("bilingual HTML", "ape.books.html:open_bilingual_html"),
    "bilingual-epub": BookFormat("bilingual EPUB", "ape.books.epub:open_bilingual_epub"),
}


def open_book(
    path: Path,
    *,
    format: str | None = None,  # as the flag is called
    encoding: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Book:
    """Open a book by the ending of its name, or by what is in it where that tells nothing."""
    if not path.is_file():
        raise InputError(
            f"There is no file {path}." if not path.exists() else f"{path} is no file.", field="path"
        )
    if format is not None and format not in FORMATS:
        raise InputError(f"There is no format {format!r}. There are: {', '.join(FORMATS)}.", field="format")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty.", field="path")
    module, function = FORMATS[format or detect_format(path)].opener.split(":")
    opener = getattr(import_module(module), function)
    book: Book = opener(
        path, encoding=encoding, source_language=source_language, target_language=target_language
    )
    return book


def detect_format(path: Path) -> str:
    """The name of a file's format."""
    suffix = path.suffix.lower()
    for name, known in FORMATS.items():
        if suffix in known.suffixes:
            return name
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return _packed_format(path) if head.startswith(b"PK") else _text_format(head, path)


def _packed_format(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError):
        names = set()
    if "META-INF/container.xml" in names:
        return "epub"
    if "word/document.xml" in names:
        return "docx"
    raise InputError(f"{path.name} is a zip file, but neither an EPUB nor a Word document.", field="path")


def _text_format(head: bytes, path: Path) -> str:
    """By the first bytes: they are ASCII where they tell anything, so the encoding does not matter but for zeros."""
    text = head.replace(b"\0", b"").decode("ascii", "ignore").lstrip().lower()
    if text.startswith("<"):
        for name, sign in (
            ("tmx", "<tmx"),
            ("xliff", "<xliff"),
            ("html", "<html"),
            ("html", "<!doctype html"),
        ):
            if sign in text:
                return name
    if head.startswith((b"%PDF", b"{\\rtf", b"\xd0\xcf\x11\xe0")):
        raise InputError(
            f"{path.name} is a PDF, RTF or old Word file, which is not read here. Save it as DOCX or EPUB.",
            field="path",
        )
    lines = [line for line in text.splitlines()[:-1] or [text] if line.strip()]
    if lines and all(line.startswith("{") for line in lines):
        return "jsonl"
    if len(lines) > 1 and all("\t" in line.strip() for line in lines):
        return "tsv"
    return "txt"

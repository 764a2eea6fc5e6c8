"""The registry of book formats. A new format is a module with an opener, an entry here, and a test.

One that jobs can be exported in is also named in `ExportFormat`, with its writer in `ape.jobs.export`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from ape.books.book import Book
from ape.errors import InputError

HEAD_BYTES = 4096
ExportFormat = Literal["jsonl", "tsv", "txt", "tmx", "xliff"]
# What `ape.review.export` writes.
ReviewExport = Literal[
    "reviewed-book", "tracked-docx", "reviewed-xliff", "side-by-side", "review-report", "decisions"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class BookFormat:
    """A format with the suffixes of its files, the usual one first.

    `opener` is imported on use and called as `open_x(path, encoding=…, source_language=…, target_language=…)`.
    """

    title: str
    opener: str
    media_type: str
    suffixes: tuple[str, ...] = ()


_HTML, _EPUB = "text/html", "application/epub+zip"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_XLIFF_SUFFIXES = (".xlf", ".xliff", ".mxliff", ".sdlxliff")
# Bilingual formats have no suffixes of their own: the openers of the plain ones detect them.
FORMATS: Mapping[str, BookFormat] = {
    "txt": BookFormat("plain text", "ape.books.txt:open_text", "text/plain", (".txt", ".text")),
    "markdown": BookFormat(
        "Markdown", "ape.books.markdown:open_markdown", "text/markdown", (".md", ".markdown", ".mkd")
    ),
    "html": BookFormat("HTML", "ape.books.html:open_html", _HTML, (".html", ".htm", ".xhtml", ".xht")),
    "epub": BookFormat("EPUB", "ape.books.epub:open_epub", _EPUB, (".epub",)),
    "docx": BookFormat("Word", "ape.books.docx:open_docx", _DOCX, (".docx",)),
    "jsonl": BookFormat("JSON Lines", "ape.books.jsonl:open_jsonl", "application/jsonl", (".jsonl", ".ndjson")),
    "tsv": BookFormat("tab-separated values", "ape.books.tsv:open_tsv", "text/tab-separated-values", (".tsv", ".tab")),
    "tmx": BookFormat("TMX", "ape.books.tmx:open_tmx", "application/x-tmx+xml", (".tmx",)),
    "xliff": BookFormat("XLIFF", "ape.books.xliff:open_xliff", "application/xliff+xml", _XLIFF_SUFFIXES),
    "bilingual-html": BookFormat("bilingual HTML", "ape.books.html:open_bilingual_html", _HTML),
    "bilingual-epub": BookFormat("bilingual EPUB", "ape.books.epub:open_bilingual_epub", _EPUB),
}


def open_book(
    path: Path,
    *,
    format: str | None = None,
    encoding: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> Book:
    """Open a book file. Its format is detected from its suffix, else from its content, where none is given."""
    if not path.is_file():
        reason = f"{path} is not a regular file." if path.exists() else f"There is no file {path}."
        raise InputError(reason, field="path")
    if format is not None and format not in FORMATS:
        raise InputError(f"There is no format {format!r}. There are: {', '.join(FORMATS)}.", field="format")
    if path.stat().st_size == 0:
        raise InputError(f"{path.name} is empty.", field="path")
    module, function = FORMATS[format or detect_format(path)].opener.split(":")
    opener = getattr(import_module(module), function)
    book: Book = opener(path, encoding=encoding, source_language=source_language, target_language=target_language)
    return book


def detect_format(path: Path) -> str:
    """Name the format of a file, by its suffix or else by its content."""
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
    """Detect a format from the first bytes. All signatures are ASCII, so only zero bytes of UTF-16 matter."""
    text = head.replace(b"\0", b"").decode("ascii", "ignore").lstrip().lower()
    if text.startswith("<"):
        signs = {"<tmx": "tmx", "<xliff": "xliff", "<html": "html", "<!doctype html": "html"}
        for sign, name in signs.items():
            if sign in text:
                return name
    if head.startswith((b"%PDF", b"{\\rtf", b"\xd0\xcf\x11\xe0")):
        raise InputError(
            f"{path.name} is a PDF, RTF or old Word file, which is not supported. Save it as DOCX or EPUB.",
            field="path",
        )
    lines = [line for line in text.splitlines()[:-1] or [text] if line.strip()]
    if lines and all(line.startswith("{") for line in lines):
        return "jsonl"
    if len(lines) > 1 and all("\t" in line.strip() for line in lines):
        return "tsv"
    return "txt"

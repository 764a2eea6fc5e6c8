"""Generated libraries: books in several formats with their MT, and the manifest that lists them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.ape.books.book_factory import make_epub
from tests.ape.books.sample_book import tale

FORMATS = ("txt", "md", "epub")


@dataclass(frozen=True, slots=True)
class LibraryBook:
    """A generated book with its MT, and where the batch is to write it."""

    source: Path
    mt: Path
    output: Path
    paragraphs: int


def make_library(
    folder: Path, count: int, *, paragraphs: int = 100, formats: Sequence[str] = FORMATS
) -> list[LibraryBook]:
    """Make books of about that many paragraphs; each paragraph is unique in the library."""
    (folder / "out").mkdir(parents=True)
    return [_make_book(folder, number, paragraphs, formats[number % len(formats)]) for number in range(count)]


def _make_book(folder: Path, number: int, paragraphs: int, format: str) -> LibraryBook:
    name = f"book-{number:05}.{format}"
    book = LibraryBook(folder / f"source-{name}", folder / f"mt-{name}", folder / "out" / name, paragraphs)
    chapters = list(tale(paragraphs, seed=number, sentences=(1, 2)))
    sources = [[f"Livre {number}, {one.source}" for one in chapter] for chapter in chapters]
    mts = [[f"Book {number}, {one.mt}" for one in chapter] for chapter in chapters]
    if format == "epub":
        make_epub(book.source, paragraphs=sources, language="fr")
        make_epub(book.mt, paragraphs=mts, language="en")
    else:
        book.source.write_text(_plain(sources, "Chapitre", f"Livre {number}", format), encoding="utf-8")
        book.mt.write_text(_plain(mts, "Chapter", f"Book {number}", format), encoding="utf-8")
    return book


def _plain(chapters: list[list[str]], heading: str, title: str, format: str) -> str:
    mark = "# " if format == "md" else ""
    texts = (
        text for place, chapter in enumerate(chapters, 1) for text in (f"{mark}{heading} {place}: {title}", *chapter)
    )
    return "\n\n".join(texts) + "\n"


def write_manifest(
    path: Path, books: Sequence[LibraryBook], more: Mapping[int, Mapping[str, str]] | None = None
) -> Path:
    """Write the manifest; `more` has further columns of some books."""
    columns = sorted({name for one in (more or {}).values() for name in one})
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(
            file, ["source", "mt", "output", "source_language", "target_language", *columns], restval=""
        )
        rows.writeheader()
        for place, book in enumerate(books):
            paths = {"source": str(book.source), "mt": str(book.mt), "output": str(book.output)}
            languages = {"source_language": "fr", "target_language": "en"}
            rows.writerow({**paths, **languages, **(more or {}).get(place, {})})
    return path

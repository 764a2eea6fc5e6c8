"""Paragraphs of a monolingual book in any format, without mark-up."""

from __future__ import annotations

from pathlib import Path

from ape.books.formats import open_book
from ape.errors import InputError
from ape.text.inline_marks import strip_marks


def read_raw_paragraphs(path: Path) -> list[str]:
    """The non-blank paragraphs of a book (text, EPUB, HTML, Markdown, Word)."""
    book = open_book(path)
    if book.bilingual:
        raise InputError(f"{path.name} holds two languages side by side. Give a file for each.", field="path")
    texts = (strip_marks(paragraph.text).strip() for paragraph in book.paragraphs())
    paragraphs = [text for text in texts if text]
    if not paragraphs:
        raise InputError(f"{path.name} has no text in it.", field="path")
    return paragraphs

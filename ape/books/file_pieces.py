"""A text file as a stream of pieces: bytes to copy, and paragraphs that can be replaced."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ape.books.book import NewText, Paragraph, WriteCounts
from ape.books.encoding import Encoding
from ape.errors import InputError
from ape.text.inline_marks import MARK, describe_misplaced_marks

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FilePiece:
    """Some bytes of a file. If they hold a paragraph, `render` encodes a new text of it."""

    raw: bytes
    paragraph: Paragraph | None = None
    render: Callable[[str], bytes] | None = None


# Bytes to insert between two pieces, one of them new, so that they stay separate paragraphs.
PieceSeparator = Callable[[bytes, bytes], bytes]


class TextFileBook(ABC):
    """Base of books in text files; a format implements `pieces`."""

    __slots__ = ()
    encoding: Encoding

    @abstractmethod
    def pieces(self) -> Iterator[FilePiece]:
        """The whole file without its byte order mark."""

    def paragraphs(self) -> Iterator[Paragraph]:
        """Iterate over all paragraphs."""
        return (piece.paragraph for piece in self.pieces() if piece.paragraph)

    def fit_text(self, text: str) -> str:
        """Convert the text to characters that the file can encode."""
        return self.encoding.fit_text(text)

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the file with new texts."""
        out.write(self.encoding.bom)
        return write_pieces(self.pieces(), out, text_of)


def write_pieces(
    pieces: Iterable[FilePiece], out: BinaryIO, text_of: NewText, *, between: PieceSeparator | None = None
) -> WriteCounts:
    """Write the pieces; those without a new text stay unchanged."""
    paragraphs = replaced = 0
    before, touched = b"", False
    for piece in pieces:
        paragraphs += piece.paragraph is not None
        rendered = _render(piece, text_of)
        content = piece.raw if rendered is None else rendered
        if between and (touched or rendered is not None):
            out.write(between(before, content))
        out.write(content)
        before, touched = content, rendered is not None
        replaced += touched
    return WriteCounts(paragraphs, replaced)


def _render(piece: FilePiece, text_of: NewText) -> bytes | None:
    """The bytes of the new text, or None."""
    paragraph = piece.paragraph
    if paragraph is None or piece.render is None or paragraph.skip:
        return None
    new = text_of(paragraph.id)
    if new is None or new == paragraph.text:
        return None
    check_new_text(new, paragraph)
    return piece.render(new)


def check_new_text(new: str, paragraph: Paragraph) -> None:
    """Raise InputError where a new text can't replace a paragraph."""
    trouble = describe_misplaced_marks(new, paragraph.text) if new.strip() else "The new text is empty."
    if trouble:
        raise InputError(f"Paragraph {paragraph.id} can't be written: {trouble}", field=paragraph.id)


def skip_reason(text: str) -> str:
    """The reason not to edit a plain text, or ""."""
    if not any(char.isalpha() for char in text):
        return "no words in it"
    if MARK.search(text):
        return "has marks of ours in it"
    if not text.isascii() and _LONE_SURROGATE.search(text):
        return "has half a character in it"
    return ""

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

# Half of a pair, which no encoding can write alone.
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FilePiece:
    """Some bytes of a file; with a paragraph in them, `render` gives the bytes for a new text of it."""

    raw: bytes
    paragraph: Paragraph | None = None
    render: Callable[[str], bytes] | None = None


# What must stand between two pieces, one of them new, so that they are still two.
PieceSeparator = Callable[[bytes, bytes], bytes]


class TextFileBook(ABC):
    """A book in a text file: its format says how it is cut into pieces, and the rest follows."""

    __slots__ = ()
    encoding: Encoding

    @abstractmethod
    def pieces(self) -> Iterator[FilePiece]:
        """All of the file but its byte order mark."""

    def paragraphs(self) -> Iterator[Paragraph]:
        """All paragraphs, in order."""
        return (piece.paragraph for piece in self.pieces() if piece.paragraph)

    def fit_text(self, text: str) -> str:
        """The text as the file's encoding can hold it."""
        return self.encoding.fit_text(text)

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """The same file with other texts in it."""
        out.write(self.encoding.bom)
        return write_pieces(self.pieces(), out, text_of)


def write_pieces(
    pieces: Iterable[FilePiece], out: BinaryIO, text_of: NewText, *, between: PieceSeparator | None = None
) -> WriteCounts:
    """Write the pieces, those with a new text rendered and all others as they were."""
    paragraphs = replaced = 0
    before, touched = b"", False
    for piece in pieces:
        paragraphs += piece.paragraph is not None
        rendered = _rendered(piece, text_of)
        content = piece.raw if rendered is None else rendered
        if between and (touched or rendered is not None):
            out.write(between(before, content))
        out.write(content)
        before, touched = content, rendered is not None
        replaced += touched
    return WriteCounts(paragraphs, replaced)


def _rendered(piece: FilePiece, text_of: NewText) -> bytes | None:
    """The bytes for a new text, or None where there is none."""
    paragraph = piece.paragraph
    if paragraph is None or piece.render is None or paragraph.skip:
        return None
    new = text_of(paragraph.id)
    if new is None or new == paragraph.text:
        return None
    check_new_text(new, paragraph)
    return piece.render(new)


def check_new_text(new: str, paragraph: Paragraph) -> None:
    """Raise InputError where a new text can't stand in a paragraph's place."""
    trouble = describe_misplaced_marks(new, paragraph.text) if new.strip() else "The new text is empty."
    if trouble:
        raise InputError(f"Paragraph {paragraph.id} can't be written: {trouble}", field=paragraph.id)


def skip_reason(text: str) -> str:
    """Why a plain text is not to be edited: a reason, empty where there is none."""
    if not any(char.isalpha() for char in text):
        return "no words in it"
    if MARK.search(text):
        return "has marks of ours in it"
    if not text.isascii() and _HALF_CHARACTER.search(text):
        return "has half a character in it"
    return ""

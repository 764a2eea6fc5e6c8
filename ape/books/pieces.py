"""A text file as a stream of pieces: bytes to pass on, and paragraphs that can stand there with another text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ape.books.book import Paragraph, TextOf, Written
from ape.books.encoding import Encoding
from ape.books.marks import MARK, misplaced
from ape.errors import InputError


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a file; with a paragraph in them, `render` gives the bytes for a new text of it."""

    raw: bytes
    paragraph: Paragraph | None = None
    render: Callable[[str], bytes] | None = None


class PieceBook(ABC):
    """A book in a text file: its format says how it is cut into pieces, and the rest follows."""

    __slots__ = ()
    encoding: Encoding

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """All of the file but its byte order mark."""

    def paragraphs(self) -> Iterator[Paragraph]:
        """All paragraphs, in order."""
        return (piece.paragraph for piece in self.pieces() if piece.paragraph)

    def fitted(self, text: str) -> str:
        """The text as the file's encoding can hold it."""
        return self.encoding.fitted(text)

    def write(self, out: BinaryIO, text_of: TextOf) -> Written:
        """The same file with other texts in it."""
        out.write(self.encoding.bom)
        return write_pieces(self.pieces(), out, text_of)


def write_pieces(pieces: Iterable[Piece], out: BinaryIO, text_of: TextOf) -> Written:
    """Write the pieces, those with a new text rendered and all others as they were."""
    paragraphs = replaced = 0
    for piece in pieces:
        paragraph = piece.paragraph
        paragraphs += paragraph is not None
        new = text_of(paragraph.id) if paragraph and piece.render and not paragraph.skip else None
        if paragraph is None or piece.render is None or new is None or new == paragraph.text:
            out.write(piece.raw)
            continue
        refuse_unfit(new, paragraph)
        out.write(piece.render(new))
        replaced += 1
    return Written(paragraphs, replaced)


def refuse_unfit(new: str, paragraph: Paragraph) -> None:
    """Raise InputError where a new text can't stand in a paragraph's place."""
    trouble = misplaced(new, paragraph.text) if new.strip() else "The new text is empty."
    if trouble:
        raise InputError(f"Paragraph {paragraph.id} can't be written: {trouble}", field=paragraph.id)


def why_skipped(text: str) -> str:
    """Why a plain text is not to be edited: a reason, empty where there is none."""
    if not any(char.isalpha() for char in text):
        return "no words in it"
    if MARK.search(text):
        return "has marks of ours in it"
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "has half a character in it"
    return ""

"""The protocol of a book: chapters of paragraphs with stable ids, read in a stream and written back in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

# The new text of a paragraph by its id, or None where it stays as it is.
NewText = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of a file, in reading order.

    `id` identifies its position and stays the same as long as the file's structure does. `chapter` counts from 0.
    `text` has inline mark-up as marks (see `ape.text.inline_marks`). `source` is set in bilingual files. `shape` is the
    kind of block ("p", "h1", "li"), used to recognise a source and an MT made from the same file. `skip` is the reason
    not to edit it, or empty.
    """

    id: str
    chapter: int
    title: str
    text: str
    source: str | None = None
    shape: str = "p"
    skip: str = ""


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """How many paragraphs a writer passed, and how many got a new text."""

    paragraphs: int
    replaced: int


class Book(Protocol):
    """An opened file. Reading it twice gives the same ids and texts."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def format(self) -> str:
        """The name of its format in `ape.books.formats.FORMATS`."""
        ...

    @property
    def bilingual(self) -> bool:
        """Whether its paragraphs include their source."""
        ...

    @property
    def language(self) -> str | None:
        """The language that the file declares (ISO 639), or None."""
        ...

    @property
    def source_language(self) -> str | None:
        """The declared language of the source in a bilingual file."""
        ...

    def paragraphs(self) -> Iterator[Paragraph]:
        """Iterate over all paragraphs, with at most one chapter in memory."""
        ...

    def fit_text(self, text: str) -> str:
        """Convert the text to characters that the file can encode; raises InputError where that fails."""
        ...

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the file with new texts; all other bytes stay as they are."""
        ...


@runtime_checkable
class BilingualBook(Protocol):
    """A book that may be bilingual by its layout; its source may have paragraphs without a translation."""

    def reopen(self, path: Path) -> Book:
        """Open another copy of the book with the layout that was detected here."""
        ...

    def untranslated(self) -> Iterator[Paragraph]:
        """Source paragraphs without a translation; they are not among `paragraphs`."""
        ...


class UnicodeBook:
    """Base of books whose format can represent every character."""

    __slots__ = ()

    def fit_text(self, text: str) -> str:
        """Return the text unchanged."""
        return text

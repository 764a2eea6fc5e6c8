"""A book as a file has it: chapters of paragraphs with stable ids, read in a stream and written back in place."""

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

    `id` names its place and stays the same as long as the file's structure does. `chapter` counts from 0. `text` has
    its inline mark-up as marks (see `ape.text.inline_marks`); `source` is there in a bilingual file only. `shape` is the
    kind of block ("p", "h1", "li"), by which a source and an MT made from the same file are recognised. `skip` says why
    it is not to be edited, and is empty where it is.
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
    """What a writer did: how many paragraphs went by, and how many got a new text."""

    paragraphs: int
    replaced: int


class Book(Protocol):
    """A file that was opened and looked at. Reading it twice gives the same ids and texts."""

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
        """Whether its paragraphs bring their source with them."""
        ...

    @property
    def language(self) -> str | None:
        """The language of its text as the file states it (ISO 639), or None where it states none."""
        ...

    @property
    def source_language(self) -> str | None:
        """The language of the source in a bilingual file, where it is stated."""
        ...

    def paragraphs(self) -> Iterator[Paragraph]:
        """All paragraphs, in order, without holding more of the book than one chapter."""
        ...

    def fit_text(self, text: str) -> str:
        """The text as this file can hold it; raises InputError where it can't."""
        ...

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """The same file with other texts in it; every byte that no new text touches is as it was."""
        ...


@runtime_checkable
class BilingualBook(Protocol):
    """A book that may be bilingual by its layout, and whose source may have more paragraphs than its translation."""

    def reopen(self, path: Path) -> Book:
        """The same book at another place, with other texts: it is read by the layout that was found here."""
        ...

    def untranslated(self) -> Iterator[Paragraph]:
        """The paragraphs of the source that have no translation: none of `paragraphs`, and never written."""
        ...


class UnicodeBook:
    """What the books have in common that can spell every character, in whichever encoding they are."""

    __slots__ = ()

    def fit_text(self, text: str) -> str:
        """The text as it is."""
        return text

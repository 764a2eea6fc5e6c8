"""Unvalidated texts with file and line numbers, so that errors can name the place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ape.books.encoding import find_encoding, read_lines
from ape.errors import InputError

SOURCE_LABEL = "the source"
NoteCallback = Callable[[str], None]
"""Receives messages for the user that are not errors."""


def ignore_note(_: str) -> None:
    """Discard a message."""


@dataclass(frozen=True, slots=True)
class TextLines:
    """The segments of a document in one text, with their line numbers. None: the text lacks the segment."""

    file: str
    texts: tuple[str | None, ...]
    numbers: tuple[int, ...]
    is_guessed: bool = False
    """Whether the text came as a whole and was split into segments by guessing; some may be empty."""
    unit: str = "Line"

    def location(self, segment: int) -> str:
        """The location to open a sentence: "Line 7 of mine.txt", with "segment 3" if the line is a whole document."""
        several = self.numbers.count(self.numbers[segment]) > 1
        line = f"{self.unit} {self.numbers[segment]} of {self.file}"
        return f"{line}, segment {segment + 1}" if several else line

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document before validation, and where it begins."""

    id: str
    location: str
    outputs: Mapping[str, TextLines] = field(default_factory=dict)
    references: tuple[TextLines, ...] = ()
    sources: TextLines | None = None
    book: str = ""
    given_id: str = ""
    """The id in the file; empty if the id was generated."""
    translators: tuple[str, ...] = ()
    """The names of the references, if they have names."""

    def texts_by_label(self) -> dict[str, TextLines]:
        """All texts by their labels."""
        texts = {SOURCE_LABEL: self.sources} if self.sources else {}
        texts |= {self.reference_label(index): lines for index, lines in enumerate(self.references)}
        return texts | {f"system {name!r}": lines for name, lines in self.outputs.items()}

    def reference_label(self, reference: int) -> str:
        """The label of a reference in a message: "reference 2", with the translator if known."""
        name = self.translators[reference] if reference < len(self.translators) else ""
        return f"reference {reference + 1} ({name})" if name else f"reference {reference + 1}"


def join_lines(parts: Sequence[TextLines]) -> TextLines:
    """Join the documents of one text."""
    texts = tuple(text for part in parts for text in part.texts)
    return replace(parts[0], texts=texts, numbers=tuple(at for part in parts for at in part.numbers))


def numbered_lines(path: Path, *, encoding: str | None = None) -> list[tuple[int, str]]:
    """The lines of a text file without line ends, counted from 1."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.", field="path")
    found = find_encoding(path, encoding=encoding)
    return [(number, line.text) for number, line in enumerate(read_lines(path, found), start=1)]

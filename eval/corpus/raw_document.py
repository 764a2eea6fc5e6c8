"""Texts as they were given, each line with its place, before they are a corpus: what a sentence about a fault needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ape.books.encoding import find_encoding, read_lines
from ape.errors import InputError

SOURCE_LABEL = "the source"
NoteCallback = Callable[[str], None]
"""Takes a sentence that the user should read, though nothing failed."""


def ignore_note(_: str) -> None:
    """A note that nobody reads."""


@dataclass(frozen=True, slots=True)
class TextLines:
    """The segments of a document in one text of it: what they say, and where. None: there is no such text."""

    file: str
    texts: tuple[str | None, ...]
    numbers: tuple[int, ...]
    parted: bool = False
    """It was one text, and which words are whose segment's is our guess: some may have none."""
    unit: str = "Line"

    def place(self, segment: int) -> str:
        """As a sentence begins: "Line 7 of mine.txt", and for a line with a whole document "…, segment 3"."""
        several = self.numbers.count(self.numbers[segment]) > 1
        told = f"{self.unit} {self.numbers[segment]} of {self.file}"
        return f"{told}, segment {segment + 1}" if several else told

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document as it was given, and where it begins."""

    id: str
    place: str
    outputs: Mapping[str, TextLines] = field(default_factory=dict)
    references: tuple[TextLines, ...] = ()
    sources: TextLines | None = None
    book: str = ""
    named: str = ""
    """What its own file calls it; nothing where the id is ours."""
    translators: tuple[str, ...] = ()
    """The names of the references, where they have names."""

    def every(self) -> dict[str, TextLines]:
        """All its texts by what they are called."""
        told = {SOURCE_LABEL: self.sources} if self.sources else {}
        told |= {self.called(place): texts for place, texts in enumerate(self.references)}
        return told | {f"system {name!r}": texts for name, texts in self.outputs.items()}

    def called(self, reference: int) -> str:
        """A reference in a sentence: "reference 2", and whose it is where that is known."""
        name = self.translators[reference] if reference < len(self.translators) else ""
        return f"reference {reference + 1} ({name})" if name else f"reference {reference + 1}"


def join_lines(parts: Sequence[TextLines]) -> TextLines:
    """Documents of one text as a whole."""
    texts = tuple(text for part in parts for text in part.texts)
    return replace(parts[0], texts=texts, numbers=tuple(at for part in parts for at in part.numbers))


def numbered_lines(path: Path, *, encoding: str | None = None) -> list[tuple[int, str]]:
    """The lines of a text file, without what ends them, counted from 1."""
    if not path.is_file():
        raise InputError(f"There is no file {path}.", field="path")
    found = find_encoding(path, encoding=encoding)
    return [(number, line.text) for number, line in enumerate(read_lines(path, found), start=1)]

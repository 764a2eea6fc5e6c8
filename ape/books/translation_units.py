"""Translation units in XML: pairs of source and target, streamed and written back in place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ape.books.book import NewText, Paragraph, UnicodeBook, WriteCounts
from ape.books.file_pieces import check_new_text
from ape.books.markup.blocks import MarkupBlock
from ape.books.markup.xml_tokenizer import XmlElement
from ape.books.record_fields import pair_skip_reason
from ape.text.inline_marks import strip_marks

UnitPiece = bytes | MarkupBlock


@dataclass(frozen=True, slots=True)
class UnitParagraph:
    """A paragraph, and the block of its target, or None where it has no target."""

    paragraph: Paragraph
    target: MarkupBlock | None


PairBlocks = Callable[[Sequence[MarkupBlock]], Iterable[UnitParagraph]]


class UnitBook(UnicodeBook, ABC):
    """Base of files with translation units; a format implements `groups` and `pairing`."""

    __slots__ = ()
    path: Path

    @abstractmethod
    def groups(self, file: BinaryIO) -> Iterator[list[UnitPiece]]:
        """The whole file in groups, each with the blocks of one unit."""

    @abstractmethod
    def pairing(self) -> PairBlocks:
        """A function that pairs the blocks of the units, called in file order."""

    def paragraphs(self) -> Iterator[Paragraph]:
        """Iterate over all segments."""
        pair_up = self.pairing()
        with self.path.open("rb") as file:
            for group in self.groups(file):
                for pair in pair_up(group_blocks(group)):
                    yield pair.paragraph

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the file with new texts."""
        with self.path.open("rb") as file:
            return write_units(self.groups(file), self.pairing(), out, text_of)


def group_units(pieces: Iterable[UnitPiece], unit_of: Callable[[MarkupBlock], XmlElement]) -> Iterator[list[UnitPiece]]:
    """Group the pieces of a file so that each group has all blocks of one unit."""
    group: list[UnitPiece] = []
    current = -1
    for piece in pieces:
        if isinstance(piece, MarkupBlock):
            at = unit_of(piece).at
            if current not in (-1, at):
                yield group
                group = []
            current = at
        group.append(piece)
    yield group


def group_blocks(group: Iterable[UnitPiece]) -> list[MarkupBlock]:
    """The blocks among the pieces."""
    return [piece for piece in group if isinstance(piece, MarkupBlock)]


def write_units(groups: Iterable[list[UnitPiece]], pair_up: PairBlocks, out: BinaryIO, text_of: NewText) -> WriteCounts:
    """Write the groups with new texts in their targets."""
    paragraphs = replaced = 0
    for group in groups:
        new: dict[int, str] = {}
        for pair in pair_up(group_blocks(group)):
            paragraphs += 1
            text = text_of(pair.paragraph.id) if pair.target and not pair.paragraph.skip else None
            if pair.target and text is not None and text != pair.paragraph.text:
                check_new_text(text, pair.paragraph)
                new[id(pair.target)] = text
                replaced += 1
        for piece in group:
            if isinstance(piece, bytes):
                out.write(piece)
            else:
                out.write(piece.encode(new[id(piece)]) if id(piece) in new else piece.raw)
    return WriteCounts(paragraphs, replaced)


def unit_skip_reason(source: MarkupBlock | None, target: MarkupBlock | None) -> str:
    """The reason not to edit a pair of blocks."""
    if target and target.skip:
        return target.skip
    text = strip_marks(target.text) if target else ""
    return pair_skip_reason(strip_marks(source.text) if source else None, text, bilingual=True)


def enclosing_element(block: MarkupBlock, name: str) -> XmlElement | None:
    """The innermost element of that local name around a block."""
    return next((element for element in reversed(block.path) if local_name(element.name) == name), None)


def local_name(name: str) -> str:
    """An element name without its namespace prefix."""
    return name.rpartition(":")[2]


def primary_language(language: str) -> str:
    """The ISO 639 part of a language tag: "en" of "en-GB"."""
    return language.replace("_", "-").partition("-")[0].lower()


# How many languages a message lists.
_LISTED = 20


def list_some(languages: Iterable[str]) -> str:
    """The first of many languages, for a message."""
    known = [language[:40] for language in languages]
    return ", ".join(known[:_LISTED]) + (f" and {len(known) - _LISTED:,} more" if len(known) > _LISTED else "")


def matching_tags(languages: Iterable[str], wanted: str) -> list[str]:
    """The tag equal to `wanted`, or else all tags of its language."""
    languages = list(languages)
    exact = [tag for tag in languages if tag.replace("_", "-").lower() == wanted.replace("_", "-").lower()]
    return exact or [tag for tag in languages if primary_language(tag) == primary_language(wanted)]

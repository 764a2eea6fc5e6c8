"""Translation units in XML: a source and a target each, paired as they go by and written back in place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ape.books.book import HoldsAnyText, Paragraph, TextOf, Written
from ape.books.marks import without_marks
from ape.books.markup.splice import Block
from ape.books.markup.xml import Element
from ape.books.pieces import refuse_unfit
from ape.books.records import why_unfit

Piece = bytes | Block


@dataclass(frozen=True, slots=True)
class Pair:
    """A paragraph, and the block of the file that holds its target; None where there is no target to edit."""

    paragraph: Paragraph
    target: Block | None


PairUp = Callable[[Sequence[Block]], Iterable[Pair]]


class UnitBook(HoldsAnyText, ABC):
    """A file of units: its format says which blocks are one, and how they pair; the rest follows."""

    __slots__ = ()
    path: Path

    @abstractmethod
    def groups(self, file: BinaryIO) -> Iterator[list[Piece]]:
        """All of the file, in groups with the blocks of one unit each."""

    @abstractmethod
    def pairing(self) -> PairUp:
        """What pairs the blocks of one unit after the other."""

    def paragraphs(self) -> Iterator[Paragraph]:
        """All segments, in order."""
        pair_up = self.pairing()
        with self.path.open("rb") as file:
            for group in self.groups(file):
                for pair in pair_up(blocks_of(group)):
                    yield pair.paragraph

    def write(self, out: BinaryIO, text_of: TextOf) -> Written:
        """The same file with other texts in it."""
        with self.path.open("rb") as file:
            return write_pairs(self.groups(file), self.pairing(), out, text_of)


def grouped(pieces: Iterable[Piece], unit_of: Callable[[Block], Element]) -> Iterator[list[Piece]]:
    """The pieces of a file in groups, each with all the blocks of one unit."""
    group: list[Piece] = []
    current = -1
    for piece in pieces:
        if isinstance(piece, Block):
            at = unit_of(piece).at
            if current not in (-1, at):
                yield group
                group = []
            current = at
        group.append(piece)
    yield group


def blocks_of(group: Iterable[Piece]) -> list[Block]:
    """The blocks among the pieces."""
    return [piece for piece in group if isinstance(piece, Block)]


def write_pairs(groups: Iterable[list[Piece]], pair_up: PairUp, out: BinaryIO, text_of: TextOf) -> Written:
    """Write the groups with new texts in their targets."""
    paragraphs = replaced = 0
    for group in groups:
        new: dict[int, str] = {}
        for pair in pair_up(blocks_of(group)):
            paragraphs += 1
            text = text_of(pair.paragraph.id) if pair.target and not pair.paragraph.skip else None
            if pair.target and text is not None and text != pair.paragraph.text:
                refuse_unfit(text, pair.paragraph)
                new[id(pair.target)] = text
                replaced += 1
        for piece in group:
            if isinstance(piece, bytes):
                out.write(piece)
            else:
                out.write(piece.put(new[id(piece)]) if id(piece) in new else piece.raw)
    return Written(paragraphs, replaced)


def why_not(source: Block | None, target: Block | None) -> str:
    """Why a pair of blocks is not to be worked on."""
    if target and target.skip:
        return target.skip
    shown = without_marks(target.text) if target else ""
    return why_unfit(without_marks(source.text) if source else None, shown, bilingual=True)


def around(block: Block, name: str) -> Element | None:
    """The innermost element of that name around a block, whatever its prefix."""
    return next((element for element in reversed(block.path) if local(element.name) == name), None)


def local(name: str) -> str:
    """A name without its prefix."""
    return name.rpartition(":")[2]


def primary(language: str) -> str:
    """The ISO 639 part of a language tag: "en" of "en-GB"."""
    return language.replace("_", "-").partition("-")[0].lower()


def matching(languages: Iterable[str], wanted: str) -> list[str]:
    """The tags that may be meant: the very one, or else all of that language."""
    languages = list(languages)
    exact = [tag for tag in languages if tag.replace("_", "-").lower() == wanted.replace("_", "-").lower()]
    return exact or [tag for tag in languages if primary(tag) == primary(wanted)]

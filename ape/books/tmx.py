"""TMX 1.4: translation memories. Of each unit the target's segment is edited; notes, properties and the rest stay.

Which language is the source is said by the header (`srclang`), by the unit, or by the caller; so is the target where
the file has more than two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ape.books.book import Paragraph
from ape.books.markup.inline import Kind, Rules
from ape.books.markup.splice import Block, cut
from ape.books.markup.xml import Element, read_xml
from ape.books.records import Ids
from ape.books.units import (
    Pair,
    PairUp,
    Piece,
    UnitBook,
    around,
    grouped,
    local,
    matching,
    primary,
    why_not,
)
from ape.errors import InputError


class _TmxRules(Rules):
    collapse = False

    def kind(self, element: Element, path: Sequence[Element]) -> Kind:
        return _KINDS.get(local(element.name), Kind.FRAME)

    def half(self, element: Element) -> tuple[bool, str]:
        return local(element.name) == "bpt", element.get("i")


_KINDS = {
    **dict.fromkeys(("header", "note", "prop"), Kind.IGNORED),
    **dict.fromkeys(("bpt", "ept"), Kind.HALF),
    **dict.fromkeys(("ph", "it", "ut"), Kind.ASIDE),
    "seg": Kind.BLOCK,
    "hi": Kind.INLINE,
}


@dataclass(frozen=True, slots=True)
class TmxBook(UnitBook):
    """A TMX file; `source` and `target` are the two language tags in it that matter."""

    path: Path
    source: str
    target: str
    format: str = "tmx"
    bilingual: bool = True

    @property
    def language(self) -> str:
        """The language of the targets."""
        return primary(self.target)

    @property
    def source_language(self) -> str:
        """The language of the sources."""
        return primary(self.source)

    def pairing(self) -> PairUp:
        """In the order of the file, with ids that are unique in it."""
        return _Pairs(self).of

    def groups(self, file: BinaryIO) -> Iterator[list[Piece]]:
        """All of the file, unit by unit."""
        pieces = cut(read_xml(file, name=self.path.name), _TmxRules())
        return grouped(pieces, lambda block: around(block, "tu") or block.path[0])


class _Pairs:
    def __init__(self, book: TmxBook) -> None:
        self.book = book
        self.ids = Ids()
        self.number = 0

    def of(self, blocks: Sequence[Block]) -> Iterator[Pair]:
        if not blocks:
            return
        self.number += 1
        source = _in_language(blocks, self.book.source)
        target = _in_language(blocks, self.book.target)
        if not source and not target:
            return
        unit = around(blocks[0], "tu")
        name = self.ids.unique((unit.get("tuid") if unit else "") or f"tu{self.number}")
        yield Pair(
            Paragraph(
                name,
                0,
                "",
                target.text if target else "",
                source=source.text if source else "",
                shape="seg",
                skip=why_not(source, target),
            ),
            target,
        )


def _in_language(blocks: Sequence[Block], tag: str) -> Block | None:
    """The first variant in that language; further ones are somebody else's wording, and stay."""
    return next((block for block in blocks if _language(around(block, "tuv")) == tag), None)


def _language(variant: Element | None) -> str:
    return (variant.get("xml:lang") or variant.get("lang")) if variant else ""


def open_tmx(
    path: Path,
    *,
    encoding: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> TmxBook:
    """Open a TMX file and find its two languages. XML says its encoding itself, so `encoding` is not used."""
    stated, languages = _survey(path)
    listed = ", ".join(languages)
    if not languages:
        raise InputError(f"{path.name} has no translation units.", field="mt")
    source = (
        _chosen(path, languages, source_language or stated, "source") if source_language or stated else None
    )
    target = _chosen(path, languages, target_language, "target") if target_language else None
    rest = [tag for tag in languages if tag not in (source, target)]
    if source is None and target and len(rest) == 1:
        source = rest.pop()
    if target is None and source and len(rest) == 1:
        target = rest.pop()
    if source is None or target is None or source == target:
        raise InputError(
            f"{path.name} has texts in these languages: {listed}. Name the two that are meant with "
            "--source-language and --target-language.",
            field="target_language" if source else "source_language",
        )
    return TmxBook(path, source, target)


def _survey(path: Path) -> tuple[str, list[str]]:
    """The header's source language, "" where it states none, and the tags of all variants in order of appearance."""
    stated, languages, root = "", dict[str, None](), ""
    with path.open("rb") as file:
        for token in read_xml(file, name=path.name).stream:
            if token.kind != "start" or not token.element:
                continue
            name = local(token.element.name)
            root = root or name
            if root != "tmx":
                raise InputError(f"{path.name} is not TMX: its root element is <{root}>.", field="mt")
            if name == "header":
                stated = token.element.get("srclang")
            elif name == "tuv" and (tag := _language(token.element)):
                languages[tag] = None
    return ("" if stated.lower() == "*all*" else stated), list(languages)


def _chosen(path: Path, languages: list[str], wanted: str, role: str) -> str:
    found = matching(languages, wanted)
    if len(found) != 1:
        trouble = "has no text in" if not found else "has several kinds of"
        raise InputError(
            f"{path.name} {trouble} {wanted!r}, which is to be its {role}. Its languages are: "
            f"{', '.join(languages)}. Name one of them with --{role}-language.",
            field=f"{role}_language",
        )
    return found[0]

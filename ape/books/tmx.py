"""TMX 1.4 translation memories. The target segment of each unit is edited; notes, properties and the rest stay.

The source language is the caller's or the header's (`srclang`). The target language must be given where the file has
more than two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ape.books.book import Paragraph
from ape.books.markup.blocks import MarkupBlock, split_blocks
from ape.books.markup.marked_text import ElementKind, MarkupRules
from ape.books.markup.xml_tokenizer import XmlElement, read_xml
from ape.books.record_fields import UniqueIds
from ape.books.translation_units import (
    PairBlocks,
    UnitBook,
    UnitParagraph,
    UnitPiece,
    enclosing_element,
    group_units,
    list_some,
    local_name,
    matching_tags,
    primary_language,
    unit_skip_reason,
)
from ape.errors import InputError


class _TmxRules(MarkupRules):
    collapse = False

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        return _KINDS.get(local_name(element.name), ElementKind.FRAME)

    def half(self, element: XmlElement) -> tuple[bool, str]:
        return local_name(element.name) == "bpt", element.get("i")


_KINDS = {
    **dict.fromkeys(("header", "note", "prop"), ElementKind.IGNORED),
    **dict.fromkeys(("bpt", "ept"), ElementKind.HALF),
    **dict.fromkeys(("ph", "it", "ut"), ElementKind.STANDALONE),
    "seg": ElementKind.BLOCK,
    "hi": ElementKind.INLINE,
}


@dataclass(frozen=True, slots=True)
class TmxBook(UnitBook):
    """A TMX file; `source` and `target` are the tags of the chosen languages."""

    path: Path
    source: str
    target: str
    format: str = "tmx"
    bilingual: bool = True

    @property
    def language(self) -> str:
        """The language of the targets."""
        return primary_language(self.target)

    @property
    def source_language(self) -> str:
        """The language of the sources."""
        return primary_language(self.source)

    def pairing(self) -> PairBlocks:
        """Pair the segments of each unit, with unique ids."""
        return _UnitPairing(self).pairs

    def groups(self, file: BinaryIO) -> Iterator[list[UnitPiece]]:
        """The whole file, unit by unit."""
        pieces = split_blocks(read_xml(file, name=self.path.name), _TmxRules())
        return group_units(pieces, lambda block: enclosing_element(block, "tu") or block.path[0])


class _UnitPairing:
    def __init__(self, book: TmxBook) -> None:
        self.book = book
        self.ids = UniqueIds()
        self.number = 0

    def pairs(self, blocks: Sequence[MarkupBlock]) -> Iterator[UnitParagraph]:
        if not blocks:
            return
        self.number += 1
        source = _in_language(blocks, self.book.source)
        target = _in_language(blocks, self.book.target)
        if not source and not target:
            return
        unit = enclosing_element(blocks[0], "tu")
        name = self.ids.unique((unit.get("tuid") if unit else "") or f"tu{self.number}")
        yield UnitParagraph(
            Paragraph(
                name,
                0,
                "",
                target.text if target else "",
                source=source.text if source else "",
                shape="seg",
                skip=unit_skip_reason(source, target),
            ),
            target,
        )


def _in_language(blocks: Sequence[MarkupBlock], tag: str) -> MarkupBlock | None:
    """The first variant in that language; further variants stay unchanged."""
    return next((block for block in blocks if _language(enclosing_element(block, "tuv")) == tag), None)


def _language(variant: XmlElement | None) -> str:
    return (variant.get("xml:lang") or variant.get("lang")) if variant else ""


def open_tmx(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> TmxBook:
    """Open a TMX file and choose its two languages. XML declares its encoding, so `encoding` is ignored."""
    declared, languages = _survey(path)
    listed = list_some(languages)
    if not languages:
        raise InputError(f"{path.name} has no translation units.", field="mt")
    source = _choose(path, languages, source_language or declared, "source") if source_language or declared else None
    target = _choose(path, languages, target_language, "target") if target_language else None
    rest = [tag for tag in languages if tag not in (source, target)]
    if source is None and target and len(rest) == 1:
        source = rest.pop()
    if target is None and source and len(rest) == 1:
        target = rest.pop()
    if source is None or target is None or source == target:
        raise InputError(
            f"{path.name} has texts in these languages: {listed}. Choose two of them by "
            "source_language and target_language.",
            field="target_language" if source else "source_language",
        )
    return TmxBook(path, source, target)


def _survey(path: Path) -> tuple[str, list[str]]:
    """The header's source language, or "", and the language tags of all variants in order of appearance."""
    declared, languages, root = "", dict[str, None](), ""
    with path.open("rb") as file:
        for token in read_xml(file, name=path.name).stream:
            if token.kind != "start" or not token.element:
                continue
            name = local_name(token.element.name)
            root = root or name
            if root != "tmx":
                raise InputError(f"{path.name} is not TMX: its root element is <{root}>.", field="mt")
            if name == "header":
                declared = token.element.get("srclang")
            elif name == "tuv" and (tag := _language(token.element)):
                languages[tag] = None
    return ("" if declared.lower() == "*all*" else declared), list(languages)


def _choose(path: Path, languages: list[str], language: str, role: str) -> str:
    found = matching_tags(languages, language)
    if len(found) != 1:
        problem = "has no text in" if not found else "has several variants of"
        raise InputError(
            f"{path.name} {problem} the {role} language {language!r}. Its languages are: {list_some(languages)}. "
            f"Set {role}_language to one of them.",
            field=f"{role}_language",
        )
    return found[0]

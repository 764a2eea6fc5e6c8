"""XLIFF 1.2 and 2.x. Targets are edited; states, notes and alternative translations stay.

A unit is skipped, with the reason, where the file marks it as finished (approved, final, signed off), locked or not to
be translated. Each segment of a unit is a paragraph.
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

_TEXTS = ("source", "target", "seg-source")
_FINISHED = ("final", "signed-off")


class _XliffRules(MarkupRules):
    """Rules of both versions."""

    collapse = False
    parents: tuple[str, ...] = ()
    kinds: dict[str, ElementKind]

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        name = local_name(element.name)
        # Within a text no element is a frame, and around it every element is.
        if path and local_name(path[-1].name) not in _FRAMES:
            return self.inside(element)
        if name in _TEXTS:
            return ElementKind.BLOCK if path and local_name(path[-1].name) in self.parents else ElementKind.IGNORED
        # Other elements with text (earlier translations, glossaries, notes) are not the translation.
        return ElementKind.FRAME if name in _FRAMES else ElementKind.IGNORED

    def inside(self, element: XmlElement) -> ElementKind:
        """The kind of an element within a text; unknown elements are opaque."""
        return self.kinds.get(local_name(element.name), ElementKind.OPAQUE)


_FRAMES = ("xliff", "file", "body", "group", "trans-unit", "unit", "segment")


class _Rules1(_XliffRules):
    parents = ("trans-unit",)
    kinds = {  # noqa: RUF012
        "g": ElementKind.INLINE,
        **dict.fromkeys(("x", "ph", "it"), ElementKind.STANDALONE),
        **dict.fromkeys(("bx", "ex", "bpt", "ept"), ElementKind.HALF),
    }

    def inside(self, element: XmlElement) -> ElementKind:
        if local_name(element.name) == "mrk":
            return {"seg": ElementKind.BLOCK, "protected": ElementKind.OPAQUE}.get(
                element.get("mtype"), ElementKind.INLINE
            )
        return super().inside(element)

    def half(self, element: XmlElement) -> tuple[bool, str]:
        return local_name(element.name) in ("bx", "bpt"), element.get("rid") or element.get("id")


class _Rules2(_XliffRules):
    parents = ("segment",)
    kinds = {  # noqa: RUF012
        "pc": ElementKind.INLINE,
        **dict.fromkeys(("ph", "cp"), ElementKind.STANDALONE),
        **dict.fromkeys(("sc", "ec", "sm", "em"), ElementKind.HALF),
    }

    def inside(self, element: XmlElement) -> ElementKind:
        if local_name(element.name) == "mrk":
            return ElementKind.OPAQUE if element.get("translate") == "no" else ElementKind.INLINE
        return super().inside(element)

    def half(self, element: XmlElement) -> tuple[bool, str]:
        name = local_name(element.name)
        return name in ("sc", "sm"), name[1] + (element.get("startRef") or element.get("id"))


@dataclass(frozen=True, slots=True)
class XliffBook(UnitBook):
    """An XLIFF file; `source` and `target` are its language tags, empty where none is declared."""

    path: Path
    version: str
    source: str
    target: str
    format: str = "xliff"
    bilingual: bool = True

    @property
    def language(self) -> str | None:
        """The language of the targets."""
        return primary_language(self.target) or None

    @property
    def source_language(self) -> str | None:
        """The language of the sources."""
        return primary_language(self.source) or None

    def pairing(self) -> PairBlocks:
        """Pair the segments of each unit, with unique ids."""
        return _UnitPairing(self).pairs

    def groups(self, file: BinaryIO) -> Iterator[list[UnitPiece]]:
        """The whole file, unit by unit."""
        rules = _Rules1() if self.version.startswith("1") else _Rules2()
        pieces = split_blocks(read_xml(file, name=self.path.name), rules)
        return group_units(pieces, lambda block: _unit(block) or block.path[0])


def _unit(block: MarkupBlock) -> XmlElement | None:
    return enclosing_element(block, "trans-unit") or enclosing_element(block, "unit")


class _UnitPairing:
    def __init__(self, book: XliffBook) -> None:
        self.book = book
        self.ids = UniqueIds()
        self.chapter = -1
        self.file = -1
        self.title = ""

    def pairs(self, blocks: Sequence[MarkupBlock]) -> Iterator[UnitParagraph]:
        if not blocks:
            return
        self._enter(blocks[0])
        unit = _unit(blocks[0])
        name = (unit.get("id") if unit else "") or "unit"
        segments = _segments(blocks)
        for number, ((_, inner), texts) in enumerate(segments.items(), start=1):
            wanted = name if len(segments) == 1 else f"{name}/{inner or number}"
            yield self._pair(self.ids.unique(wanted), texts.get("source"), texts.get("target"))

    def _enter(self, block: MarkupBlock) -> None:
        file = enclosing_element(block, "file")
        if file and file.at != self.file:
            self.file, self.chapter = file.at, self.chapter + 1
            self.title = file.get("original") or file.get("id")

    def _pair(self, name: str, source: MarkupBlock | None, target: MarkupBlock | None) -> UnitParagraph:
        either = target or source
        assert either
        paragraph = Paragraph(
            name,
            max(0, self.chapter),
            self.title,
            target.text if target else "",
            source=source.text if source else "",
            shape="target",
            skip=self._other_language(either) or _finished(either) or unit_skip_reason(source, target),
        )
        return UnitParagraph(paragraph, target)

    def _other_language(self, block: MarkupBlock) -> str:
        file = enclosing_element(block, "file")
        tag = file.get("target-language") if file else ""
        return "in another language" if tag and self.book.target and tag != self.book.target else ""


def _segments(blocks: Sequence[MarkupBlock]) -> dict[tuple[int, str], dict[str, MarkupBlock]]:
    """The source and target of each segment, by position and name of the segment."""
    found: dict[tuple[int, str], dict[str, MarkupBlock]] = {}
    segmented = any(enclosing_element(block, "seg-source") for block in blocks)
    for block in blocks:
        role = next(local_name(element.name) for element in reversed(block.path) if local_name(element.name) in _TEXTS)
        if role == "source" and segmented:
            continue
        role = "target" if role == "target" else "source"
        # Where an element splits a text in two, the first part counts.
        found.setdefault(_segment(block), {}).setdefault(role, block)
    return found


def _segment(block: MarkupBlock) -> tuple[int, str]:
    segment = enclosing_element(block, "segment")
    if segment:
        return segment.at, segment.get("id")
    mark = enclosing_element(block, "mrk")
    return 0, mark.get("mid") if mark else ""


def _finished(block: MarkupBlock) -> str:
    """Why the file marks this as not to be edited, or ""."""
    translate = [element.get("translate") for element in block.path if element.get("translate")]
    if translate and translate[-1] == "no":
        return "not to be translated"
    for element in block.path:
        if element.get("approved") == "yes":
            return "approved already"
        if element.get("state") in _FINISHED:
            return f"{element.get('state')} already"
        for name, value in element.attributes.items():
            if local_name(name) == "locked" and value.lower() in ("true", "yes", "locked", "1"):
                return "locked"
    return ""


def open_xliff(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> XliffBook:
    """Open an XLIFF file. XML declares its encoding, so `encoding` is ignored."""
    version, pairs = _survey(path)
    sources = _matching_languages([source for source, _ in pairs], source_language)
    targets = _matching_languages([target for _, target in pairs], target_language)
    fitting = [(source, target) for source, target in pairs if source in sources and target in targets]
    if len(fitting) != 1:
        listed = list_some(f"{source or '?'} to {target or '?'}" for source, target in pairs)
        raise InputError(
            f"{path.name} has translations from {listed}. Choose one pair by source_language and target_language.",
            field="target_language",
        )
    return XliffBook(path, version, *fitting[0])


def _matching_languages(tags: list[str], wanted: str | None) -> frozenset[str]:
    """The tags that match the language; a missing tag matches any."""
    return frozenset(["", *matching_tags(tags, wanted)] if wanted else tags)


def _survey(path: Path) -> tuple[str, list[tuple[str, str]]]:
    """The version of the file, and its language pairs."""
    version, pairs = "", dict[tuple[str, str], None]()
    with path.open("rb") as file:
        for token in read_xml(file, name=path.name).stream:
            if token.kind != "start" or not token.element:
                continue
            element = token.element
            if not version:
                version = _version(path, element)
                if version.startswith("2"):
                    pairs[element.get("srcLang"), element.get("trgLang")] = None
            elif local_name(element.name) == "file" and version.startswith("1"):
                pairs[element.get("source-language"), element.get("target-language")] = None
    return version, list(pairs) or [("", "")]


def _version(path: Path, root: XmlElement) -> str:
    version = root.get("version")
    if local_name(root.name) != "xliff" or version[:2] not in ("1.", "2."):
        raise InputError(
            f"{path.name} is not XLIFF 1.2 or 2.x: it begins with <{root.name}> version {version or '?'}.", field="mt"
        )
    return version

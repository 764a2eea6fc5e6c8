"""Word documents (DOCX): the paragraphs of the text and its notes. Headers, comments and the rest stay unchanged.

Headings are recognised by style names, which Word stores in English in every language. Skipped: paragraphs with tracked
changes (accept or reject them first), results of fields such as a table of contents, text boxes, and lines of ruby.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from ape.books.archive import Archive
from ape.books.book import NewText, Paragraph, UnicodeBook, WriteCounts
from ape.books.docx_chapters import DocxHeading, chapter_titles
from ape.books.docx_runs import DocxRuns, read_runs
from ape.books.file_pieces import check_new_text, skip_reason
from ape.books.markup.blocks import MarkupBlock, split_blocks
from ape.books.markup.marked_text import ElementKind, MarkupRules
from ape.books.markup.xml_tokenizer import XmlElement, read_xml
from ape.books.translation_units import local_name, primary_language
from ape.errors import InputError
from ape.text.inline_marks import strip_marks

_IN_MEMORY = 4 << 20
_NOTES = {"footnotes.xml": "Footnotes", "endnotes.xml": "Endnotes"}
_INLINE = (
    "r", "t", "hyperlink", "smartTag", "ins", "moveTo", "sdt", "sdtContent", "customXml", "dir", "bdo", "fldSimple",
    "ruby", "rubyBase",
)  # fmt: skip
_FIELDS = ("fldSimple", "fldChar")
_FIELD = re.compile(rb"""fldCharType\s*=\s*["'](begin|end)""")
_CHAPTERS = ("h1", "h2")
# The tags that matter in text boxes, each with the text after it. Every byte is looked at once.
_BOX_TAG = re.compile(rb"<(/?)(?:\w++:)?+(Fallback|txbxContent|p|t)(?=[\s/>])[^<>]*+(?<!/)>([^<]*+)")


class _DocxRules(MarkupRules):
    """Rules that find paragraphs with text; `ape.books.docx_runs` reads the text."""

    collapse = False

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        prefix = _prefix(path[0]) if path else ""
        inline = _inline_names(prefix)
        # A paragraph has no other elements around its text than inline ones.
        above = next((parent.name for parent in reversed(path) if parent.name not in inline), "")
        if above == f"{prefix}p":
            return ElementKind.INLINE if element.name in inline else ElementKind.STANDALONE
        return ElementKind.BLOCK if element.name == f"{prefix}p" else ElementKind.FRAME


@lru_cache(maxsize=16)
def _inline_names(prefix: str) -> frozenset[str]:
    return frozenset(prefix + name for name in _INLINE)


def _heading(paragraph: Paragraph, *, bare: bool) -> DocxHeading:
    title = " ".join(strip_marks(paragraph.text).split())
    return DocxHeading(paragraph.id, _CHAPTERS.index(paragraph.shape) + 1, title, bare)


def _prefix(root: XmlElement) -> str:
    """The namespace prefix of Word's own elements, usually "w:"."""
    before, colon, _ = root.name.rpartition(":")
    return before + colon


@dataclass(frozen=True, slots=True)
class _Styles:
    """The names of the styles by id, and the declared language."""

    names: Mapping[str, str]
    language: str | None = None

    def shape(self, style: str) -> str:
        """The shape of a paragraph of this style: "h1" for a heading, "p" for most."""
        name = self.names.get(style, "").lower()
        match = re.fullmatch(r"heading (\d)", name)
        return f"h{match[1]}" if match else "title" if name == "title" else "p"


@dataclass(frozen=True, slots=True)
class DocxParagraph:
    """A paragraph of the file, with its runs and bytes."""

    paragraph: Paragraph
    runs: DocxRuns
    raw: bytes


@dataclass(frozen=True, slots=True)
class DocxBook(UnicodeBook):
    """A Word document; `parts` are the entries of its archive that hold text."""

    path: Path
    parts: tuple[str, ...]
    styles: _Styles
    source_language: str | None = None
    format: str = "docx"
    bilingual: bool = False

    @property
    def language(self) -> str | None:
        """The language of the default style."""
        return self.styles.language

    def paragraphs(self) -> Iterator[Paragraph]:
        """Iterate over the paragraphs of the text, then those of the notes."""
        chapter, title, titles = 0, "", chapter_titles(self._headings())
        with Archive(self.path) as archive:
            for part in self.parts:
                notes = _NOTES.get(posixpath.basename(part), "")
                begun = False
                for place in self._places(archive, part):
                    if isinstance(place, bytes):
                        continue
                    paragraph = place.paragraph if isinstance(place, DocxParagraph) else place
                    if (notes and not begun) or paragraph.id in titles:
                        title = notes or titles[paragraph.id]
                        chapter += begun or bool(notes)
                    begun = True
                    yield Paragraph(
                        paragraph.id, chapter, title, paragraph.text, shape=paragraph.shape, skip=paragraph.skip
                    )

    def _headings(self) -> Iterator[DocxHeading]:
        """The headings that may begin chapters, in order."""
        heading: Paragraph | None = None
        with Archive(self.path) as archive:
            for part in self.parts:
                for place in self._places(archive, part):
                    if not isinstance(place, DocxParagraph) or _NOTES.get(posixpath.basename(part)):
                        continue
                    paragraph = place.paragraph
                    is_heading = paragraph.shape in _CHAPTERS
                    if heading and (is_heading or strip_marks(paragraph.text).strip()):
                        yield _heading(heading, bare=is_heading)
                        heading = None
                    heading = paragraph if is_heading else heading
        if heading:
            yield _heading(heading, bare=False)

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the document with new texts; entries without one stay unchanged."""
        paragraphs = replaced = 0
        with Archive(self.path) as archive:

            def content_of(name: str) -> BinaryIO | None:
                nonlocal paragraphs, replaced
                if name not in self.parts:
                    return None
                content = cast(BinaryIO, SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - the archive closes it
                written = WriteCounts(0, 0)
                try:
                    written = self.write_part(archive, name, content, lambda place: _encode(place, text_of))
                finally:
                    if not written.replaced:
                        content.close()
                paragraphs += written.paragraphs
                replaced += written.replaced
                if not written.replaced:
                    return None
                content.seek(0)
                return content

            archive.rewrite(out, content_of)
        return WriteCounts(paragraphs, replaced)

    def write_part(
        self, archive: Archive, part: str, out: BinaryIO, encode: Callable[[DocxParagraph], bytes | None]
    ) -> WriteCounts:
        """Write a part of the document; `encode` returns the new bytes of a paragraph, or None where it stays."""
        paragraphs = replaced = 0
        for place in self._places(archive, part):
            if isinstance(place, bytes):
                out.write(place)
                continue
            paragraphs += 1
            if isinstance(place, Paragraph):
                continue
            new = encode(place)
            out.write(place.raw if new is None else new)
            replaced += new is not None
        return WriteCounts(paragraphs, replaced)

    def _places(self, archive: Archive, part: str) -> Iterator[bytes | DocxParagraph | Paragraph]:
        """The file in pieces. A bare `Paragraph` belongs to a text box, whose bytes are in the piece before."""
        name = posixpath.splitext(posixpath.basename(part))[0]
        number, boxes, fields = 0, 0, 0
        with archive.open(part) as file:
            for piece in split_blocks(read_xml(file, name=part), _DocxRules()):
                if isinstance(piece, MarkupBlock):
                    number += 1
                    yield self._place(piece, f"{name}#{number}", inside_field=fields > 0)
                else:
                    yield piece
                raw = piece if isinstance(piece, bytes) else piece.raw
                for text in _text_box_paragraphs(raw):
                    boxes += 1
                    yield Paragraph(f"{name}#box{boxes}", 0, "", text, shape="box", skip="in a text box")
                for kind in _FIELD.findall(raw):
                    fields = max(0, fields + (1 if kind == b"begin" else -1))

    def _place(self, block: MarkupBlock, id: str, *, inside_field: bool) -> DocxParagraph:
        prefix = _prefix(block.path[0])
        runs = read_runs(block.tokens, prefix, block.encoding)
        tracked = any(element.name in (f"{prefix}ins", f"{prefix}moveTo") for element in block.path)
        skip = "has tracked changes" if tracked else "made by a field" if inside_field else runs.skip
        text = runs.text
        if not strip_marks(text).strip() and not skip:
            # All words are in standalone elements: nothing to edit, but the paragraph is listed.
            text, skip = strip_marks(block.text).strip(), _standalone_skip_reason(block, prefix)
        skip = skip or skip_reason(strip_marks(text))
        paragraph = Paragraph(id, 0, "", text, shape=self._shape(block, prefix), skip=skip)
        return DocxParagraph(paragraph, runs, block.raw)

    def _shape(self, block: MarkupBlock, prefix: str) -> str:
        properties: dict[str, str] = {}
        for token in block.tokens:
            if token.kind == "end" and token.element and token.element.name == f"{prefix}pPr":
                break
            if token.kind == "start" and token.element:
                properties.setdefault(token.element.name.removeprefix(prefix), token.element.get(f"{prefix}val"))
        shape = self.styles.shape(properties.get("pStyle", ""))
        if shape == "p" and "numPr" in properties:
            return "li"
        in_cell = any(element.name == f"{prefix}tc" for element in block.path)
        return "td" if shape == "p" and in_cell else shape


def _encode(place: DocxParagraph, text_of: NewText) -> bytes | None:
    paragraph = place.paragraph
    new = None if paragraph.skip else text_of(paragraph.id)
    if new is None or new == paragraph.text:
        return None
    check_new_text(new, paragraph)
    return place.runs.encode(new)


def _standalone_skip_reason(block: MarkupBlock, prefix: str) -> str:
    """Why a paragraph whose words are all in standalone elements is not edited."""
    names = {token.element.name for token in block.tokens if token.element}
    return "made by a field" if names & {prefix + name for name in _FIELDS} else "all of it is ruby"


def _text_box_paragraphs(raw: bytes) -> Iterator[str]:
    """The text of each paragraph in text boxes among these bytes."""
    if b"txbxContent" not in raw:
        return
    in_box = in_fallback = False
    texts: list[bytes] = []
    for close, name, text in _BOX_TAG.findall(raw):
        if name == b"Fallback":
            # Text boxes are usually stored twice: in the current format, and as a fallback for old versions of Word.
            in_fallback = not close
        elif in_fallback:
            continue
        elif name == b"txbxContent":
            in_box = not close
        elif name == b"t" and in_box and not close:
            texts.append(text)
        if close and name != b"t" and texts:
            whole = unescape(b"".join(texts).decode("utf-8", "replace"))
            texts.clear()
            if whole.strip():
                yield whole


def open_docx(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> DocxBook:
    """Open a Word document, which declares its encoding and language."""
    with Archive(path) as archive:
        main = _main_part(archive)
        folder = posixpath.dirname(main)
        notes = [posixpath.join(folder, name) for name in _NOTES]
        parts = (main, *(name for name in notes if name in archive))
        styles = posixpath.join(folder, "styles.xml")
        return DocxBook(path, parts, _read_styles(archive, styles) if styles in archive else _Styles({}))


def _main_part(archive: Archive) -> str:
    for element in _elements(archive, "_rels/.rels"):
        if local_name(element.name) == "Relationship" and element.get("Type").endswith("/officeDocument"):
            name = element.get("Target").lstrip("/")
            if name in archive and posixpath.splitext(name)[1] == ".xml":
                return name
    raise InputError(
        f"{archive.path.name} is not a Word document: it has no main document part. Save it as DOCX again.", field="mt"
    )


def _read_styles(archive: Archive, part: str) -> _Styles:
    names: dict[str, str] = {}
    parents: dict[str, str] = {}
    language, style = "", ""
    for element in _elements(archive, part):
        name = local_name(element.name)
        value = _value(element, "val")
        if name == "style":
            style = _value(element, "styleId")
        elif name == "name" and style:
            names.setdefault(style, value)
        elif name == "basedOn" and style:
            parents[style] = value
        elif name == "lang" and not language:
            language = value
    for known in names:
        above = known
        for _ in range(10):
            if names.get(above, "").lower().startswith("heading "):
                names[known] = names[above]
                break
            above = parents.get(above, "")
    return _Styles(names, primary_language(language) or None)


def _value(element: XmlElement, name: str) -> str:
    return next((value for key, value in element.attributes.items() if local_name(key) == name), "")


def _elements(archive: Archive, part: str) -> Iterator[XmlElement]:
    if part in archive:
        with archive.open(part) as file:
            for token in read_xml(file, name=part).stream:
                if token.kind == "start" and token.element:
                    yield token.element

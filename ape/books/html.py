"""HTML books, well-formed or not.

A chapter begins with each h1 and h2. Attributes, scripts and styles are ignored; preformatted text is listed but never
edited. Code, ruby and formulas are one mark each, as are line breaks, images and footnote numbers.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import BinaryIO

from ape.books.bilingual import BilingualLayout, BilingualPassage, find_layout
from ape.books.book import NewText, Paragraph, UnicodeBook, WriteCounts
from ape.books.encoding import find_encoding
from ape.books.file_pieces import check_new_text, skip_reason
from ape.books.markup.blocks import MarkupBlock, split_blocks, write_blocks
from ape.books.markup.html_tokenizer import read_html_tokens
from ape.books.markup.marked_text import ElementKind, MarkupRules
from ape.books.markup.xml_tokenizer import XmlElement, XmlToken, is_well_formed, read_xml
from ape.books.text_encodings import find_text_encoding, is_single_byte
from ape.errors import InputError
from ape.text.inline_marks import strip_marks
from ape.text.languages import language_code

HEAD_BYTES = 4096
HEADINGS = ("h1", "h2")

_BLOCKS = frozenset(
    "p h1 h2 h3 h4 h5 h6 li dt dd td th caption figcaption blockquote div section article aside header footer main nav "
    "address body center details summary legend fieldset form hgroup figure dialog title".split()
)
_FRAMES = frozenset("html head table thead tbody tfoot tr colgroup col ul ol dl menu dir hr optgroup base".split())
_IGNORED = frozenset("script style template noscript iframe object canvas audio video map select datalist".split())
_SKIPPED = {"pre": "preformatted", "xmp": "preformatted", "listing": "preformatted", "textarea": "a form's text"}
_OPAQUE = frozenset("code kbd samp var tt ruby math svg button output".split())
_ASIDE = frozenset("br wbr img input meta link embed area".split())
_NOTE_TYPES = frozenset("noteref doc-noteref backlink doc-backlink pagebreak doc-pagebreak".split())
_NOTE_NUMBER = re.compile(r"[\[(]?(?:\d{1,4}|[*†‡§¶]{1,3}|[a-z]|[ivxl]{1,6}|↩︎?|[①-⑳])[\])]?")


def local_name(name: str) -> str:
    """The name of an element without its prefix."""
    return name.rpartition(":")[2]


class HtmlRules(MarkupRules):
    """The kinds of HTML elements. Unknown elements are inline, as in a browser."""

    root = ElementKind.BLOCK

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        """The kind of an element."""
        kind = _kind(local_name(element.name))
        if element.get("translate") == "no" or "notranslate" in element.get("class").split():
            return {
                ElementKind.INLINE: ElementKind.OPAQUE,
                ElementKind.BLOCK: ElementKind.SKIPPED,
                ElementKind.FRAME: ElementKind.IGNORED,
            }.get(kind, kind)
        if kind is ElementKind.INLINE and _is_note_reference(element):
            return ElementKind.STANDALONE
        return kind

    def hides(self, element: XmlElement, inside: Sequence[XmlToken]) -> bool:
        """Whether the element is a footnote number: a short link, superscript or not."""
        name = local_name(element.name)
        if name not in ("sup", "a", "span"):
            return False
        text = "".join(token.text for token in inside).strip()
        if not _NOTE_NUMBER.fullmatch(text):
            return False
        elements = [element, *(token.element for token in inside if token.kind == "start" and token.element)]
        return any(local_name(link.name) == "a" and "#" in link.get("href") for link in elements)

    def shape(self, path: Sequence[XmlElement]) -> str:
        """The name of the innermost block element."""
        names = (local_name(element.name) for element in reversed(path))
        return next((name for name in names if _kind(name) in (ElementKind.BLOCK, ElementKind.SKIPPED)), "")

    def skip(self, path: Sequence[XmlElement]) -> str:
        """The reason not to edit a skipped block."""
        names = (local_name(element.name) for element in path)
        return next((_SKIPPED[name] for name in names if name in _SKIPPED), "not to be translated")


def _kind(name: str) -> ElementKind:
    if name in _BLOCKS:
        return ElementKind.BLOCK
    if name in _FRAMES:
        return ElementKind.FRAME
    if name in _OPAQUE:
        return ElementKind.OPAQUE
    if name in _ASIDE:
        return ElementKind.STANDALONE
    if name in _IGNORED:
        return ElementKind.IGNORED
    return ElementKind.SKIPPED if name in _SKIPPED else ElementKind.INLINE


def _is_note_reference(element: XmlElement) -> bool:
    return any(_NOTE_TYPES.intersection(element.get(name).split()) for name in ("epub:type", "role"))


@dataclass(frozen=True, slots=True)
class HtmlDocument:
    """One HTML document: how to open it, and how to read it.

    `encoding` is None for well-formed XML, which declares it. Paragraph ids begin with `prefix`.
    """

    name: str
    prefix: str
    opened: Callable[[], BinaryIO]
    encoding: str | None
    rules: MarkupRules
    layout: BilingualLayout | None = None

    def blocks(self) -> Iterator[MarkupBlock]:
        """All blocks, including the source of a bilingual document."""
        with self.opened() as file:
            for piece in self._pieces(file):
                if isinstance(piece, MarkupBlock):
                    yield piece

    def passages(self) -> Iterator[BilingualPassage]:
        """The passages to edit, in order."""
        blocks = enumerate(self.blocks(), start=1)
        if self.layout:
            passages = self.layout.passages(blocks)
        else:
            passages = (BilingualPassage(number, block, None, "") for number, block in blocks)
        return (passage._replace(skip=passage.skip or _skip(passage.block)) for passage in passages)

    def untranslated(self) -> Iterator[Paragraph]:
        """Source paragraphs without a translation."""
        blocks = enumerate(self.blocks(), start=1)
        for number, block in self.layout.untranslated(blocks) if self.layout else ():
            yield self.paragraph(BilingualPassage(number, block, None, ""), 0, "")

    def paragraph(self, passage: BilingualPassage, chapter: int, title: str) -> Paragraph:
        """Convert a passage to a paragraph of the book."""
        return Paragraph(
            f"{self.prefix}#{passage.number}",
            chapter,
            title,
            passage.block.text,
            source=passage.source,
            shape=passage.block.shape,
            skip=passage.skip,
        )

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the document with new texts."""
        # The role of a block in a bilingual document is known only a few blocks later.
        passages = {passage.number: not passage.skip for passage in self.passages()} if self.layout else None
        numbers = count(1)

        def new_text(block: MarkupBlock) -> str | None:
            number = next(numbers)
            if _skip(block) or (passages is not None and not passages.get(number)):
                return None
            new = text_of(f"{self.prefix}#{number}")
            if new is not None:
                check_new_text(new, self.paragraph(BilingualPassage(number, block, None, ""), 0, ""))
            return new

        with self.opened() as file:
            written = write_blocks(self._pieces(file), out, new_text)
        return written if passages is None else WriteCounts(len(passages), written.replaced)

    def _pieces(self, file: BinaryIO) -> Iterator[bytes | MarkupBlock]:
        tokens = read_html_tokens(file, self.encoding) if self.encoding else read_xml(file, name=self.name)
        return split_blocks(tokens, self.rules)


def _skip(block: MarkupBlock) -> str:
    return block.skip or skip_reason(strip_marks(block.text))


@dataclass(frozen=True)
class HtmlBook(UnicodeBook):
    """An HTML file."""

    path: Path
    document: HtmlDocument
    language: str | None
    source_language: str | None = None

    @property
    def bilingual(self) -> bool:
        """Whether it includes the source."""
        return self.document.layout is not None

    @property
    def format(self) -> str:
        """The name of the format."""
        return "bilingual-html" if self.bilingual else "html"

    def paragraphs(self) -> Iterator[Paragraph]:
        """Iterate over all blocks with text."""
        chapter, title, filled = 0, "", False
        for passage in self.document.passages():
            shape = passage.block.shape
            if shape in HEADINGS:
                # "Part One" and "Chapter 1" right after it begin one chapter.
                chapter, filled = chapter + filled, False
            elif shape != "title":
                filled = True
            if shape in HEADINGS or shape == "title":
                title = strip_marks(passage.block.text)
            yield self.document.paragraph(passage, chapter, title)

    def untranslated(self) -> Iterator[Paragraph]:
        """Source paragraphs without a translation."""
        return self.document.untranslated()

    def reopen(self, path: Path) -> HtmlBook:
        """Open another copy of the book with the same layout."""
        document = replace(self.document, name=path.name, opened=lambda: path.open("rb"))
        return replace(self, path=path, document=document)

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the file with new texts."""
        return self.document.write(out, text_of)


def open_html(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> HtmlBook:
    """Open an HTML file; one with alternating source and translation is opened as bilingual."""
    return _open(path, encoding, source_language, target_language, sure=False)


def open_bilingual_html(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> HtmlBook:
    """Open an HTML file with source and translation in alternating paragraphs."""
    return _open(path, encoding, source_language, target_language, sure=True)


SAMPLE_BLOCKS = 600


def _open(
    path: Path, encoding: str | None, source_language: str | None, target_language: str | None, *, sure: bool
) -> HtmlBook:
    document = HtmlDocument(path.name, "", lambda: path.open("rb"), _encoding(path, encoding), HtmlRules())
    _refuse_lossy_encoding(document)
    sample = list(islice(document.blocks(), SAMPLE_BLOCKS))
    declared = declared_language(sample[0].path) if sample else None
    layout = find_layout(sample, source=source_language, target=target_language, sure=sure)
    if layout is None:
        if sure:
            raise InputError(NOT_BILINGUAL.format(path.name), field="format")
        return HtmlBook(path, document, declared)
    document = HtmlDocument(path.name, "", document.opened, document.encoding, document.rules, layout)
    return HtmlBook(path, document, layout.target_language or None, layout.source_language or None)


NOT_BILINGUAL = (
    "{} is not bilingual: no alternating source and translation were found by declared languages, by CSS classes or by "
    "detected languages."
)


def declared_language(path: Sequence[XmlElement]) -> str | None:
    """The language declared by the innermost of these elements."""
    for element in reversed(path):
        if language := element.get("xml:lang") or element.get("lang"):
            return language_code(language)
    return None


def html_encoding(opened: Callable[[], BinaryIO], name: str) -> str | None:
    """How to read a document that should be XHTML: None as XML, else the encoding to read it in as HTML."""
    with opened() as file:
        encoding = _known(_declared(file.read(HEAD_BYTES)))
    if encoding.startswith("utf-") or is_single_byte(encoding):
        with opened() as file:
            if is_well_formed(file, name=name):
                return None
    return encoding


_XML = re.compile(rb"""<\?xml\s|<html[^>]+xmlns""", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"""<\?xml[^>]+encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})""")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Labels that browsers treat as another encoding.
_BROWSER_ALIASES = {"ascii": "cp1252", "iso8859-1": "cp1252", "utf-16": "utf-8", "gb2312": "gb18030", "gbk": "gb18030"}


def _encoding(path: Path, encoding: str | None) -> str | None:
    """How to read an HTML file: None as XML, else its encoding."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if encoding is None and _XML.search(head) and html_encoding(lambda: path.open("rb"), path.name) is None:
        return None
    if encoding is None:
        encoding = _declared(head)
        try:
            return find_encoding(path, encoding=_known(encoding) if encoding else None).name
        except InputError:
            encoding = None
    return find_encoding(path, encoding=encoding).name


def _declared(head: bytes) -> str | None:
    """The encoding declared at the start of a document."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    match = _XML_CHARSET.search(head) or _CHARSET.search(head)
    return match[1].decode("ascii") if match else None


def _known(encoding: str | None) -> str:
    name = find_text_encoding(encoding or "utf-8") or "utf-8"
    return _BROWSER_ALIASES.get(name, name)


def _refuse_lossy_encoding(document: HtmlDocument) -> None:
    """Refuse a file that can't be reproduced: some Asian encodings have two byte sequences for one text."""
    encoding = document.encoding or "utf-8"
    if encoding.startswith("utf-") or is_single_byte(encoding):
        return
    with document.opened() as file, document.opened() as same:
        for token in read_html_tokens(file, encoding).stream:
            if same.read(len(token.raw)) != token.raw:
                raise InputError(
                    f"{document.name} can't be written back byte for byte in {encoding}. Convert it to UTF-8.",
                    field="encoding",
                )

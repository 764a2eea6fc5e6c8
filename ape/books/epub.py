"""EPUB 2 and 3: a zip of XHTML documents, read in the order of its spine, each a chapter.

When it is written, unedited entries are copied unchanged, and in edited documents all bytes outside of edited
paragraphs stay. The table of contents and the metadata are not edited.
"""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast
from urllib.parse import unquote, urlsplit

from ape.books.archive import MAX_MEMORY_BYTES, Archive
from ape.books.bilingual import BilingualLayout, find_layout
from ape.books.book import NewText, Paragraph, UnicodeBook, WriteCounts
from ape.books.html import NOT_BILINGUAL, SAMPLE_BLOCKS, HtmlDocument, HtmlRules, html_encoding, local_name
from ape.books.markup.blocks import MarkupBlock
from ape.books.markup.marked_text import ElementKind
from ape.books.markup.xml_tokenizer import XmlElement, read_xml
from ape.errors import InputError
from ape.text.inline_marks import strip_marks
from ape.text.languages import language_code

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
# Obfuscated fonts do not make a book encrypted.
FONT_OBFUSCATION = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
DOCUMENT_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml", "text/xml")
# How many blocks of a chapter are searched for its heading.
HEADING_SEARCH_BLOCKS = 30


class EpubRules(HtmlRules):
    """HTML's rules without `<head>`: readers see the heading, not the `<title>`."""

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        """The kind of an element."""
        return ElementKind.IGNORED if local_name(element.name) == "head" else super().kind(element, path)


@dataclass(frozen=True, slots=True)
class EpubPackage:
    """The package file: documents in reading order, their titles in the table of contents, languages."""

    documents: tuple[str, ...]
    titles: Mapping[str, str]
    languages: tuple[str, ...]


@dataclass(frozen=True)
class EpubBook(UnicodeBook):
    """An EPUB whose spine is complete."""

    path: Path
    package: EpubPackage
    layout: BilingualLayout | None = None

    @property
    def format(self) -> str:
        """The name of the format."""
        return "bilingual-epub" if self.bilingual else "epub"

    @property
    def bilingual(self) -> bool:
        """Whether it includes the source."""
        return self.layout is not None

    @property
    def language(self) -> str | None:
        """The language of the text by the layout or the package."""
        if self.layout:
            return self.layout.target_language or None
        return self.package.languages[0] if self.package.languages else None

    @property
    def source_language(self) -> str | None:
        """The language of the source in a bilingual book."""
        return (self.layout.source_language or None) if self.layout else None

    def paragraphs(self) -> Iterator[Paragraph]:
        """All blocks with text, document by document."""
        with Archive(self.path) as archive:
            for chapter, name in enumerate(self.package.documents):
                document = self._document(archive, name)
                title = _heading(document) or self.package.titles.get(name, "")
                for passage in document.passages():
                    yield document.paragraph(passage, chapter, title)

    def untranslated(self) -> Iterator[Paragraph]:
        """Source paragraphs without a translation."""
        with Archive(self.path) as archive:
            for name in self.package.documents:
                yield from self._document(archive, name).untranslated()

    def reopen(self, path: Path) -> EpubBook:
        """Open another copy of the book with the same layout."""
        with Archive(path) as archive:
            return EpubBook(path, _package(archive), self.layout)

    def blocks(self) -> Iterator[MarkupBlock]:
        """All blocks, including the source of a bilingual book."""
        with Archive(self.path) as archive:
            for name in self.package.documents:
                yield from self._document(archive, name).blocks()

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """Write the archive with new texts in its documents."""
        paragraphs = replaced = 0
        documents = frozenset(self.package.documents)
        with Archive(self.path) as archive:

            def content_of(name: str) -> BinaryIO | None:
                nonlocal paragraphs, replaced
                if name not in documents:
                    return None
                content, written = _write_document(self._document(archive, name), text_of)
                paragraphs, replaced = paragraphs + written.paragraphs, replaced + written.replaced
                return content

            archive.rewrite(out, content_of)
        return WriteCounts(paragraphs, replaced)

    def _document(self, archive: Archive, name: str) -> HtmlDocument:
        where = f"{name} in {self.path.name}"
        encoding = html_encoding(lambda: archive.open(name), where)
        return HtmlDocument(where, name, lambda: archive.open(name), encoding, EpubRules(), self.layout)


def open_epub(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> EpubBook:
    """Open an EPUB; one with alternating source and translation is opened as bilingual."""
    return _open(path, source_language, target_language, sure=False)


def open_bilingual_epub(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> EpubBook:
    """Open an EPUB with source and translation in alternating paragraphs."""
    return _open(path, source_language, target_language, sure=True)


def _open(path: Path, source_language: str | None, target_language: str | None, *, sure: bool) -> EpubBook:
    with Archive(path) as archive:
        _refuse_encrypted(archive)
        book = EpubBook(path, _package(archive))
    sample = list(islice(book.blocks(), SAMPLE_BLOCKS))
    layout = find_layout(sample, source=source_language, target=target_language, sure=sure)
    if sure and not layout:
        raise InputError(NOT_BILINGUAL.format(path.name), field="format")
    return EpubBook(path, book.package, layout)


def _write_document(document: HtmlDocument, text_of: NewText) -> tuple[BinaryIO | None, WriteCounts]:
    """Write a document with new texts to a temporary file that the caller closes; None where nothing changed."""
    with ExitStack() as stack:
        content = cast(BinaryIO, stack.enter_context(SpooledTemporaryFile(max_size=MAX_MEMORY_BYTES)))
        written = document.write(content, text_of)
        if not written.replaced:
            return None, written
        content.seek(0)
        stack.pop_all()
        return content, written


def _heading(document: HtmlDocument) -> str:
    """The first heading near the start of a document."""
    for passage in islice(document.passages(), HEADING_SEARCH_BLOCKS):
        if passage.block.shape in ("h1", "h2", "h3", "h4", "h5", "h6"):
            return strip_marks(passage.block.text)
    return ""


# No title is longer; what follows is dropped.
_MAX_TITLE = 10_000


@dataclass(slots=True)
class _Node:
    """An element of a small XML file, with the node around it and its text."""

    element: XmlElement
    parent: _Node | None
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0

    @property
    def name(self) -> str:
        return local_name(self.element.name)

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, text: str) -> None:
        if text and self._length < _MAX_TITLE:
            self._pieces.append(text[:_MAX_TITLE])
            self._length += len(text)

    def enclosing(self, name: str) -> XmlElement | None:
        """The innermost element of that name around this one, among those that were looked for."""
        node = self.parent
        while node and node.name != name:
            node = node.parent
        return node.element if node else None


def _nodes(archive: Archive, name: str, wanted: Container[str]) -> list[_Node]:
    """The elements of an entry with these names, in order. The others take no memory, however many there are."""
    found: list[_Node] = []
    opened: list[_Node] = []
    for token in read_xml(BytesIO(archive.read(name)), name=f"{name} in {archive.path.name}").stream:
        if token.kind == "start" and token.element and local_name(token.element.name) in wanted:
            opened.append(_Node(token.element, opened[-1] if opened else None))
            found.append(opened[-1])
        elif token.kind == "end" and opened and token.element is opened[-1].element:
            text = opened.pop().text
            if opened:
                opened[-1].add(text)
        elif token.kind == "text" and opened:
            opened[-1].add(token.text)
    return found


def _refuse_encrypted(archive: Archive) -> None:
    if ENCRYPTION not in archive:
        return
    methods = [node.element.get("Algorithm") for node in _nodes(archive, ENCRYPTION, ("EncryptionMethod",))]
    if any(method not in FONT_OBFUSCATION for method in methods):
        raise InputError(f"{archive.path.name} is encrypted (DRM). Use a copy without DRM.")


def _package(archive: Archive) -> EpubPackage:
    where = archive.path.name
    if CONTAINER not in archive:
        raise InputError(f"{where} is not an EPUB: it has no {CONTAINER}.")
    roots = [node.element.get("full-path") for node in _nodes(archive, CONTAINER, ("rootfile",))]
    if not roots or roots[0] not in archive:
        raise InputError(f"{where} is broken: the package file of {CONTAINER} is missing.")
    nodes = _nodes(archive, roots[0], ("item", "itemref", "language"))
    items = {node.element.get("id"): node.element for node in nodes if node.name == "item"}
    references = [node.element.get("idref") for node in nodes if node.name == "itemref"]
    if not references:
        raise InputError(f"{where} is broken: its spine is empty.")
    for reference in references:
        if reference not in items:
            raise InputError(f"{where} is broken: its spine names {reference!r}, which its manifest does not have.")
    read = {reference: _entry(archive, roots[0], items[reference].get("href")) for reference in references}
    documents = [name for reference, name in read.items() if _is_text(items[reference])]
    if not documents:
        raise InputError(f"{where} has no text in its spine: it may be a picture book.")
    declared = (node.text.strip() for node in nodes if node.name == "language")
    languages = [language_code(language) for language in declared if language]
    return EpubPackage(tuple(dict.fromkeys(documents)), _titles(archive, roots[0], items), tuple(languages))


def _is_text(item: XmlElement) -> bool:
    """Whether the item is a document to edit; the navigation document is not."""
    return item.get("media-type") in DOCUMENT_TYPES and "nav" not in item.get("properties").split()


def _entry(archive: Archive, base: str, href: str) -> str:
    """The entry that a link in the file `base` refers to."""
    name = _resolve(base, href)
    if name not in archive:
        raise InputError(f"{archive.path.name} is broken: its spine names {name!r}, which is not in the archive.")
    return name


def _resolve(base: str, href: str) -> str:
    try:
        path = urlsplit(href).path
    except ValueError:  # no link to another file either: "//[x"
        path = href
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(path)))


def _titles(archive: Archive, base: str, items: Mapping[str, XmlElement]) -> dict[str, str]:
    """Titles by document, from the tables of contents that can be read."""
    titles: dict[str, str] = {}
    read = set[str]()
    for item in items.values():
        nav = "nav" in item.get("properties").split()
        if not nav and item.get("media-type") != "application/x-dtbncx+xml":
            continue
        name = _resolve(base, item.get("href"))
        if name not in archive or name in read:
            continue
        read.add(name)
        try:
            nodes = _nodes(archive, name, ("nav", "a") if nav else ("navLabel", "text", "content"))
        except InputError:
            continue
        for href, title in _links(nodes) if nav else _points(nodes):
            titles.setdefault(_resolve(name, href), " ".join(title.split()))
    return titles


def _links(nodes: list[_Node]) -> Iterator[tuple[str, str]]:
    """Links and titles in the table of contents of an EPUB 3 navigation document."""
    for node in nodes:
        nav = node.enclosing("nav") if node.name == "a" else None
        if nav and nav.get("epub:type") == "toc":
            yield node.element.get("href"), node.text


def _points(nodes: list[_Node]) -> Iterator[tuple[str, str]]:
    """Links and titles in an EPUB 2 table of contents (NCX)."""
    label = ""
    for node in nodes:
        if node.name == "text" and node.enclosing("navLabel"):
            label = node.text
        elif node.name == "content":
            yield node.element.get("src"), label

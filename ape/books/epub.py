"""EPUB 2 and 3: a zip of XHTML documents, read in the order of its spine, each a chapter.

When it is written, unedited entries are copied unchanged, and in edited documents all bytes outside of edited
paragraphs stay. The table of contents and the metadata are not edited.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, NamedTuple, cast
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
        with Archive(self.path) as archive:

            def content_of(name: str) -> BinaryIO | None:
                nonlocal paragraphs, replaced
                if name not in self.package.documents:
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


class _Node(NamedTuple):
    """An element of a small XML file, with its text and its ancestors."""

    element: XmlElement
    ancestors: tuple[XmlElement, ...]
    text: list[str]

    @property
    def name(self) -> str:
        return local_name(self.element.name)

    def inside(self, name: str) -> bool:
        return any(local_name(element.name) == name for element in self.ancestors)


def _nodes(archive: Archive, name: str) -> list[_Node]:
    """All elements of an entry, in order."""
    found: list[_Node] = []
    opened: list[_Node] = []
    for token in read_xml(BytesIO(archive.read(name)), name=f"{name} in {archive.path.name}").stream:
        if token.kind == "start" and token.element:
            opened.append(_Node(token.element, tuple(node.element for node in opened), []))
            found.append(opened[-1])
        elif token.kind == "end":
            text = "".join(opened.pop().text)
            if opened:
                opened[-1].text.append(text)
        elif token.kind == "text" and opened:
            opened[-1].text.append(token.text)
    return found


def _refuse_encrypted(archive: Archive) -> None:
    if ENCRYPTION not in archive:
        return
    methods = [node.element.get("Algorithm") for node in _nodes(archive, ENCRYPTION) if node.name == "EncryptionMethod"]
    if any(method not in FONT_OBFUSCATION for method in methods):
        raise InputError(f"{archive.path.name} is encrypted (DRM). Use a copy without DRM.")


def _package(archive: Archive) -> EpubPackage:
    where = archive.path.name
    if CONTAINER not in archive:
        raise InputError(f"{where} is not an EPUB: it has no {CONTAINER}.")
    roots = [node.element.get("full-path") for node in _nodes(archive, CONTAINER) if node.name == "rootfile"]
    if not roots or roots[0] not in archive:
        raise InputError(f"{where} is broken: the package file of {CONTAINER} is missing.")
    nodes = _nodes(archive, roots[0])
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
    declared = ("".join(node.text).strip() for node in nodes if node.name == "language")
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
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(urlsplit(href).path)))


def _titles(archive: Archive, base: str, items: Mapping[str, XmlElement]) -> dict[str, str]:
    """Titles by document, from the tables of contents that can be read."""
    titles: dict[str, str] = {}
    for item in items.values():
        name = _resolve(base, item.get("href"))
        nav = "nav" in item.get("properties").split()
        if name in archive and (nav or item.get("media-type") == "application/x-dtbncx+xml"):
            try:
                nodes = _nodes(archive, name)
            except InputError:
                continue
            for href, title in _links(nodes) if nav else _points(nodes):
                titles.setdefault(_resolve(name, href), " ".join(title.split()))
    return titles


def _links(nodes: list[_Node]) -> Iterator[tuple[str, str]]:
    """Links and titles in the table of contents of an EPUB 3 navigation document."""
    for node in nodes:
        navs = [element for element in node.ancestors if local_name(element.name) == "nav"]
        if node.name == "a" and navs and navs[-1].get("epub:type") == "toc":
            yield node.element.get("href"), "".join(node.text)


def _points(nodes: list[_Node]) -> Iterator[tuple[str, str]]:
    """Links and titles in an EPUB 2 table of contents (NCX)."""
    label = ""
    for node in nodes:
        if node.name == "text" and node.inside("navLabel"):
            label = "".join(node.text)
        elif node.name == "content":
            yield node.element.get("src"), label

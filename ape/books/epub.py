"""EPUB 2 and 3: a zip of XHTML documents, read in the order of its spine, each a chapter.

Written back, every entry but an edited document is copied as it stands in the archive, and in an edited document every
byte but those of the edited paragraphs. The table of contents and the metadata are not touched.
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
from ape.books.html import (
    NOT_BILINGUAL,
    SAMPLE_BLOCKS,
    HtmlDocument,
    HtmlRules,
    html_encoding,
    local_name,
)
from ape.books.markup.blocks import MarkupBlock
from ape.books.markup.marked_text import ElementKind
from ape.books.markup.xml_tokenizer import XmlElement, read_xml
from ape.errors import InputError
from ape.text.inline_marks import strip_marks
from ape.text.languages import language_code

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
# Fonts are scrambled so that they can't be taken out: that is no encryption of the book.
FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
DOCUMENT_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml", "text/xml")
# How far into a chapter its heading is looked for.
HEADING_SEARCH_BLOCKS = 30


class EpubRules(HtmlRules):
    """HTML's rules, but a document's `<title>` is for machines here: what is read is the heading."""

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        """What the element is."""
        return ElementKind.IGNORED if local_name(element.name) == "head" else super().kind(element, path)


@dataclass(frozen=True, slots=True)
class EpubPackage:
    """What the package file says: the documents in reading order, their titles in the table of contents, languages."""

    documents: tuple[str, ...]
    titles: Mapping[str, str]
    languages: tuple[str, ...]


@dataclass(frozen=True)
class EpubBook(UnicodeBook):
    """An EPUB that was opened: its package was read, and all that it names is there."""

    path: Path
    package: EpubPackage
    layout: BilingualLayout | None = None

    @property
    def format(self) -> str:
        """The name of the format."""
        return "bilingual-epub" if self.bilingual else "epub"

    @property
    def bilingual(self) -> bool:
        """Whether the source is in it too."""
        return self.layout is not None

    @property
    def language(self) -> str | None:
        """The language of the text, as the package or the layout states it."""
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
        """What is there in the source only."""
        with Archive(self.path) as archive:
            for name in self.package.documents:
                yield from self._document(archive, name).untranslated()

    def reopen(self, path: Path) -> EpubBook:
        """The same book at another place, with other texts."""
        with Archive(path) as archive:
            return EpubBook(path, _package(archive), self.layout)

    def blocks(self) -> Iterator[MarkupBlock]:
        """All blocks, whichever text of a bilingual book they belong to."""
        with Archive(self.path) as archive:
            for name in self.package.documents:
                yield from self._document(archive, name).blocks()

    def write(self, out: BinaryIO, text_of: NewText) -> WriteCounts:
        """The archive with new texts in its documents."""
        paragraphs = replaced = 0
        with Archive(self.path) as archive:

            def content_of(name: str) -> BinaryIO | None:
                nonlocal paragraphs, replaced
                if name not in self.package.documents:
                    return None
                content, written = _written(self._document(archive, name), text_of)
                paragraphs, replaced = paragraphs + written.paragraphs, replaced + written.replaced
                return content

            archive.rewrite(out, content_of)
        return WriteCounts(paragraphs, replaced)

    def _document(self, archive: Archive, name: str) -> HtmlDocument:
        where = f"{name} in {self.path.name}"
        encoding = html_encoding(lambda: archive.open(name), where)
        return HtmlDocument(where, name, lambda: archive.open(name), encoding, EpubRules(), self.layout)


def open_epub(
    path: Path,
    *,
    encoding: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> EpubBook:
    """Open an EPUB; where it clearly has source and translation side by side, as a bilingual one."""
    return _open(path, source_language, target_language, sure=False)


def open_bilingual_epub(
    path: Path,
    *,
    encoding: str | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
) -> EpubBook:
    """Open an EPUB that has source and translation paragraph by paragraph."""
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


def _written(document: HtmlDocument, text_of: NewText) -> tuple[BinaryIO | None, WriteCounts]:
    """A document with new texts, to be closed by whoever gets it; None where nothing is new."""
    with ExitStack() as stack:
        content = cast(BinaryIO, stack.enter_context(SpooledTemporaryFile(max_size=MAX_MEMORY_BYTES)))
        written = document.write(content, text_of)
        if not written.replaced:
            return None, written
        content.seek(0)
        stack.pop_all()
        return content, written


def _heading(document: HtmlDocument) -> str:
    """The first heading near the beginning of a document."""
    for passage in islice(document.passages(), HEADING_SEARCH_BLOCKS):
        if passage.block.shape in ("h1", "h2", "h3", "h4", "h5", "h6"):
            return strip_marks(passage.block.text)
    return ""


class _Node(NamedTuple):
    """An element of a small XML file, with its text and the elements it stands in."""

    element: XmlElement
    around: tuple[XmlElement, ...]
    text: list[str]

    @property
    def name(self) -> str:
        return local_name(self.element.name)

    def inside(self, name: str) -> bool:
        return any(local_name(element.name) == name for element in self.around)


def _nodes(archive: Archive, name: str) -> list[_Node]:
    """All elements of an entry, in order."""
    found: list[_Node] = []
    begun: list[_Node] = []
    for token in read_xml(BytesIO(archive.read(name)), name=f"{name} in {archive.path.name}").stream:
        if token.kind == "start" and token.element:
            begun.append(_Node(token.element, tuple(node.element for node in begun), []))
            found.append(begun[-1])
        elif token.kind == "end":
            text = "".join(begun.pop().text)
            if begun:
                begun[-1].text.append(text)
        elif token.kind == "text" and begun:
            begun[-1].text.append(token.text)
    return found


def _refuse_encrypted(archive: Archive) -> None:
    if ENCRYPTION not in archive:
        return
    methods = [
        node.element.get("Algorithm")
        for node in _nodes(archive, ENCRYPTION)
        if node.name == "EncryptionMethod"
    ]
    if any(method not in FONT_SCRAMBLING for method in methods):
        raise InputError(
            f"{archive.path.name} is encrypted (DRM): its text can't be read. A copy without protection is needed."
        )


def _package(archive: Archive) -> EpubPackage:
    where = archive.path.name
    if CONTAINER not in archive:
        raise InputError(f"{where} is no EPUB: it has no {CONTAINER}.")
    roots = [node.element.get("full-path") for node in _nodes(archive, CONTAINER) if node.name == "rootfile"]
    if not roots or roots[0] not in archive:
        raise InputError(f"{where} is broken: {CONTAINER} names no package file that is there.")
    nodes = _nodes(archive, roots[0])
    items = {node.element.get("id"): node.element for node in nodes if node.name == "item"}
    references = [node.element.get("idref") for node in nodes if node.name == "itemref"]
    if not references:
        raise InputError(f"{where} is broken: its spine is empty, so there is no order to read it in.")
    for reference in references:
        if reference not in items:
            raise InputError(
                f"{where} is broken: its spine names {reference!r}, which its manifest does not have."
            )
    read = {reference: _entry(archive, roots[0], items[reference].get("href")) for reference in references}
    documents = [name for reference, name in read.items() if _is_text(items[reference])]
    if not documents:
        raise InputError(f"{where} has no text in its spine: it may be a book of pictures.")
    stated = ("".join(node.text).strip() for node in nodes if node.name == "language")
    languages = [language_code(language) for language in stated if language]
    return EpubPackage(tuple(dict.fromkeys(documents)), _titles(archive, roots[0], items), tuple(languages))


def _is_text(item: XmlElement) -> bool:
    """Whether it is a document to edit; the table of contents is kept as it is."""
    return item.get("media-type") in DOCUMENT_TYPES and "nav" not in item.get("properties").split()


def _entry(archive: Archive, base: str, href: str) -> str:
    """The name of the entry that a link in the file `base` means."""
    name = _resolved(base, href)
    if name not in archive:
        raise InputError(
            f"{archive.path.name} is broken: its spine names {name!r}, which is not in the archive."
        )
    return name


def _resolved(base: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(urlsplit(href).path)))


def _titles(archive: Archive, base: str, items: Mapping[str, XmlElement]) -> dict[str, str]:
    """The title of each document by the table of contents; one that can't be read gives none."""
    titles: dict[str, str] = {}
    for item in items.values():
        name = _resolved(base, item.get("href"))
        nav = "nav" in item.get("properties").split()
        if name in archive and (nav or item.get("media-type") == "application/x-dtbncx+xml"):
            try:
                nodes = _nodes(archive, name)
            except InputError:
                continue
            for href, title in _links(nodes) if nav else _points(nodes):
                titles.setdefault(_resolved(name, href), " ".join(title.split()))
    return titles


def _links(nodes: list[_Node]) -> Iterator[tuple[str, str]]:
    """Of an EPUB 3 navigation document, the links of its table of contents."""
    for node in nodes:
        navs = [element for element in node.around if local_name(element.name) == "nav"]
        if node.name == "a" and navs and navs[-1].get("epub:type") == "toc":
            yield node.element.get("href"), "".join(node.text)


def _points(nodes: list[_Node]) -> Iterator[tuple[str, str]]:
    """Of an EPUB 2 table of contents, each label with the content that follows it."""
    label = ""
    for node in nodes:
        if node.name == "text" and node.inside("navLabel"):
            label = "".join(node.text)
        elif node.name == "content":
            yield node.element.get("src"), label

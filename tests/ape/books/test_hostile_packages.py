"""Hostile EPUB, Word and XLIFF files, and edits of hostile paragraphs: all take time in proportion to their size."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from ape.books.book import Book
from ape.books.docx import open_docx
from ape.books.formats import open_book
from ape.books.line_wrapping import wrap_text
from ape.books.xliff import open_xliff
from ape.errors import InputError
from tests.ape.books.test_hostile_patterns import nest, repeat
from tests.linear import assert_linear

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="m"'
_RUN = "<w:r><w:t>a</w:t></w:r>"
_BOLD = "<w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r>"


def make_docx(path: Path, body: str) -> Path:
    """A Word document with a body of XML."""
    main = f'<?xml version="1.0"?><w:document {_WORD}><w:body>{body}</w:body></w:document>'
    relation = '<Relationships><Relationship Type="x/officeDocument" Target="word/document.xml"/></Relationships>'
    return _make_zip(path, {"_rels/.rels": relation, "word/document.xml": main})


def make_epub(path: Path, *, items: str = "", nav: str = "", spine: str = "") -> Path:
    """An EPUB of one sentence with more items in its package file, or another table of contents."""
    package = (
        '<package><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/>'
        f'<item id="n" href="n.xhtml" properties="nav"/>{items}</manifest>'
        f'<spine><itemref idref="c"/>{spine}</spine></package>'
    )
    container = '<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    entries = {"META-INF/container.xml": container, "c.opf": package, "c.xhtml": "<html><p>He came in.</p></html>"}
    return _make_zip(path, entries | {"n.xhtml": f'<html xmlns:epub="e">{nav}</html>'})


def _make_zip(path: Path, entries: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def paragraph(inside: Callable[[int], str]) -> Callable[[int], str]:
    """A Word paragraph of a given length."""
    return lambda size: f"<w:p>{_RUN}{inside(size)}</w:p>"


def edit_all(book: Book) -> None:
    """Read a book and write it with another text in each paragraph."""
    texts = {one.id: one.text.replace("a", "o", 1) + "." for one in book.paragraphs() if not one.skip}
    book.write(io.BytesIO(), texts.get)


# Patterns of a paragraph in Word, with the size to begin with.
DOCX: Mapping[str, tuple[int, Callable[[int], str]]] = {
    "runs": (20_000, paragraph(repeat(_RUN))),
    "runs in turns": (20_000, paragraph(repeat(_RUN + _BOLD))),
    "tabs": (20_000, paragraph(repeat("<w:r><w:tab/></w:r>"))),
    "nested content": (20_000, paragraph(nest("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"))),
    "fallbacks": (10_000, paragraph(lambda size: "<w:txbxContent/>" + repeat("<mc:Fallback/>")(size))),
    "boxes": (10_000, paragraph(repeat("<w:txbxContent/>"))),
    "tags in a comment": (
        10_000,
        paragraph(lambda size: f"<w:x><w:txbxContent><!--{repeat('<w:t ')(size)}--></w:txbxContent></w:x>"),
    ),
    "languages in a comment": (
        10_000,
        paragraph(lambda size: f"<w:r><w:rPr><!--{repeat('<w:lang ')(size)}--></w:rPr><w:t>b</w:t></w:r>"),
    ),
}


@pytest.mark.parametrize("name", DOCX)
def test_editing_a_word_document_is_linear(name: str, tmp_path: Path) -> None:
    size, body = DOCX[name]

    def work(size: int) -> None:
        with suppress(InputError):
            edit_all(open_docx(make_docx(tmp_path / "book.docx", body(size))))

    assert_linear(work, size)


def test_content_that_is_nested_deeply_stays_as_it_is(tmp_path: Path) -> None:
    inner = f"<w:hyperlink>{_BOLD * 500}</w:hyperlink>"
    for _ in range(300):
        inner = f"<w:hyperlink>{_RUN}{inner}</w:hyperlink>"
    book = open_docx(make_docx(tmp_path / "book.docx", f"<w:p>{_RUN}{inner}</w:p>"))
    (found,) = book.paragraphs()
    out = io.BytesIO()
    book.write(out, lambda _: found.text + "!")
    with zipfile.ZipFile(out) as archive:
        assert inner[-2000:-300].encode() in archive.read("word/document.xml")


def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    path.write_text(f'<xliff version="1.2">{"<group>" * 600}{"</group>" * 600}</xliff>', encoding="utf-8")
    with pytest.raises(InputError, match="nested more than"):
        open_xliff(path)
    book = open_docx(make_docx(tmp_path / "a.docx", "<w:sdt>" * 600 + "</w:sdt>" * 600))
    with pytest.raises(InputError, match="nested more than"):
        list(book.paragraphs())


def test_a_file_that_declares_thousands_of_attributes_is_refused(tmp_path: Path) -> None:
    """Each element of that name would have all of them: 25 kB took a minute."""
    declared = "".join(f'<!ATTLIST seg a{number} CDATA "x">' for number in range(5_000))
    path = tmp_path / "a.tmx"
    path.write_text(f'<!DOCTYPE tmx [{declared}]><tmx version="1.4">{"<seg/>" * 5_000}</tmx>', encoding="utf-8")
    with pytest.raises(InputError, match="declares more than 100 attributes"):
        open_book(path)


def test_many_language_pairs_are_looked_through_in_linear_time(tmp_path: Path) -> None:
    def work(size: int) -> None:
        files = "".join(f'<file source-language="a{n}" target-language="b{n}"/>' for n in range(size // 50))
        path = tmp_path / "a.xlf"
        path.write_text(f'<xliff version="1.2">{files}</xliff>', encoding="utf-8")
        with pytest.raises(InputError) as refused:
            open_xliff(path)
        assert len(str(refused.value)) < 1000

    assert_linear(work, 30_000)


def test_a_table_of_contents_is_read_once(tmp_path: Path) -> None:
    def work(size: int) -> None:
        items = "".join(f'<item id="n{n}" href="n.xhtml" properties="nav"/>' for n in range(size // 50))
        list(open_book(make_epub(tmp_path / "a.epub", items=items, nav=repeat("<a/>")(size))).paragraphs())

    assert_linear(work, 10_000)


def test_elements_of_a_package_file_take_little_memory(tmp_path: Path) -> None:
    """Each element once kept a list of all those around it: 16 MB of them took 30 GB."""
    path = make_epub(tmp_path / "a.epub", items="<a>" * 400 + "<b/>" * 20_000 + "</a>" * 400)
    tracemalloc.start()
    try:
        assert [one.text for one in open_book(path).paragraphs()] == ["He came in."]
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_link_that_is_none_is_no_link(tmp_path: Path) -> None:
    path = make_epub(tmp_path / "a.epub", items='<item id="x" href="//[x" properties="nav"/>')
    assert [one.text for one in open_book(path).paragraphs()] == ["He came in."]
    item = '<item id="x" href="//[x" media-type="text/html"/>'
    other = make_epub(tmp_path / "b.epub", items=item, spine='<itemref idref="x"/>')
    with pytest.raises(InputError, match="not in the archive"):
        open_book(other)


def test_an_edit_next_to_many_spaces_takes_linear_time(tmp_path: Path) -> None:
    def work(size: int) -> None:
        path = tmp_path / "a.html"
        path.write_text(f"<p>He came a{' ' * size}in</p>", encoding="utf-8")
        edit_all(open_book(path))

    assert_linear(work, 50_000)


@pytest.mark.parametrize("pattern", ["a- ", "漢字 ", "汉字", "word "])
@pytest.mark.parametrize("columns", [70, 10_000_000])
def test_wrapping_takes_linear_time(pattern: str, columns: int) -> None:
    assert_linear(lambda size: list(wrap_text(repeat(pattern)(size), columns)), 30_000)

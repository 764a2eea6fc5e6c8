"""EPUBs are read in spine order, written with only edited words changed, and refused where broken."""

from __future__ import annotations

import codecs
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.books.book import Book
from ape.books.epub import open_epub
from ape.books.formats import open_book
from ape.errors import InputError
from tests.ape.books.book_factory import make_epub, page
from tests.ape.books.epubcheck import epubcheck

CHAPTERS = [
    ["The Harbour", "It&#8217;s <i>late</i>&#160;&amp; dark<br/>here.", "<p class='x'>\n   Two\n   lines.</p>"],
    ["<h2>Night <em>falls</em></h2>", "<ul><li>One</li><li>Two <b>three</b> four</li></ul>", "<i>All of it.</i>"],
    ["<p>No heading here.</p>", "<blockquote><p>Quoted.</p></blockquote>", "<pre>kept as\n  is</pre>"],
]


@pytest.fixture(params=[2, 3])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def written(book: Book, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    book.write(out, (new or {}).get)
    return out.getvalue()


def rebuilt(path: Path, changes: dict[str, bytes | None]) -> Path:
    """Rebuild the archive with some entries replaced or removed."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**entries, **changes}.items():
            if data is not None:
                archive.writestr(name, data)
    return path


def changed(path: Path, name: str, old: str, new: str) -> Path:
    with zipfile.ZipFile(path) as archive:
        data = archive.read(name)
    assert old.encode() in data
    return rebuilt(path, {name: data.replace(old.encode(), new.encode())})


def test_paragraphs_come_in_the_order_of_the_spine(tmp_path: Path, version: int) -> None:
    book = open_book(make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en-GB", version=version))
    assert (book.format, book.language, book.bilingual) == ("epub", "en", False)
    assert [(p.id, p.chapter, p.title, p.shape, p.text) for p in book.paragraphs()] == [
        ("OEBPS/ch01.xhtml#1", 0, "The Harbour", "h1", "The Harbour"),
        ("OEBPS/ch01.xhtml#2", 0, "The Harbour", "p", "It’s ⟦1⟧late⟦/1⟧\u00a0& dark⟦2/⟧here."),
        ("OEBPS/ch01.xhtml#3", 0, "The Harbour", "p", "Two lines."),
        ("OEBPS/ch02.xhtml#1", 1, "Night falls", "h2", "Night ⟦1⟧falls⟦/1⟧"),
        ("OEBPS/ch02.xhtml#2", 1, "Night falls", "li", "One"),
        ("OEBPS/ch02.xhtml#3", 1, "Night falls", "li", "Two ⟦1⟧three⟦/1⟧ four"),
        ("OEBPS/ch02.xhtml#4", 1, "Night falls", "p", "All of it."),
        ("OEBPS/ch03.xhtml#1", 2, "No heading here.", "p", "No heading here."),  # by the table of contents
        ("OEBPS/ch03.xhtml#2", 2, "No heading here.", "p", "Quoted."),
        ("OEBPS/ch03.xhtml#3", 2, "No heading here.", "pre", "kept as is"),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_unedited_book_is_the_same_file(tmp_path: Path, version: int, newline: str) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", version=version, newline=newline)
    book = open_book(path)
    assert written(book) == path.read_bytes()
    same = {paragraph.id: paragraph.text for paragraph in book.paragraphs()}
    assert written(book, same) == path.read_bytes()


def test_an_edit_changes_its_words_and_nothing_else(tmp_path: Path, version: int) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", version=version)
    out = written(open_book(path), {"OEBPS/ch01.xhtml#2": "It’s ⟦1⟧very late⟦/1⟧\u00a0& dark⟦2/⟧here."})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(io.BytesIO(out)) as new:
        assert new.testzip() is None
        assert [(i.filename, i.date_time, i.compress_type) for i in new.infolist()] == [
            (i.filename, i.date_time, i.compress_type) for i in old.infolist()
        ]
        for name in old.namelist():
            expected = old.read(name)
            if name == "OEBPS/ch01.xhtml":
                expected = expected.replace(b"<i>late</i>", b"<i>very late</i>")
            assert new.read(name) == expected
        # Entries before the edited one are where they were; it is the seventh of EPUB 3, the sixth of EPUB 2.
        place = old.getinfo("OEBPS/ch01.xhtml").header_offset
    assert out[:place] == path.read_bytes()[:place]
    assert out[30:58] == b"mimetypeapplication/epub+zip"


def test_a_lost_mark_is_refused_and_names_the_paragraph(tmp_path: Path) -> None:
    book = open_book(make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en"))
    with pytest.raises(InputError, match=r"OEBPS/ch02\.xhtml#3 .*⟦1⟧ is missing"):
        written(book, {"OEBPS/ch02.xhtml#3": "Two three four"})


def test_what_was_written_says_how_many(tmp_path: Path) -> None:
    book = open_book(make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en"))
    result = book.write(io.BytesIO(), {"OEBPS/ch02.xhtml#2": "Uno", "OEBPS/ch03.xhtml#3": "not taken"}.get)
    assert (result.paragraphs, result.replaced) == (10, 1)


PIECES = ["word ", "<i>so</i> ", "<br/>", "&#8212;", "<b>a <i>b</i></b>", "&amp; ", "<ruby>a<rt>b</rt></ruby>"]
INLINE = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
BOOKS = st.lists(st.lists(INLINE, min_size=1, max_size=4), min_size=1, max_size=3)


@settings(max_examples=25, deadline=None)
@given(chapters=BOOKS, version=st.sampled_from([2, 3]), newline=st.sampled_from(["\n", "\r\n"]))
def test_any_generated_book_comes_back(
    tmp_path_factory: pytest.TempPathFactory, chapters: list[list[str]], version: int, newline: str
) -> None:
    path = tmp_path_factory.mktemp("books") / "a.epub"
    book = open_epub(make_epub(path, paragraphs=chapters, language="en", version=version, newline=newline))
    assert written(book) == path.read_bytes()
    before = list(book.paragraphs())
    new = {paragraph.id: f"{paragraph.text} zebra" for paragraph in before if not paragraph.skip}
    path.write_bytes(written(book, new))
    after = list(open_epub(path).paragraphs())
    assert [(p.id, p.text) for p in after] == [(p.id, new.get(p.id, p.text)) for p in before]


def test_a_document_that_is_not_well_formed_is_read_as_soup(tmp_path: Path) -> None:
    broken = page("<p>One<br>two & three</p>\n<p>Four", language="en")
    path = make_epub(tmp_path / "a.epub", paragraphs=[["x"]], language="en", documents={"ch01.xhtml": broken})
    book = open_book(path)
    assert [p.text for p in book.paragraphs()] == ["One⟦1/⟧two & three", "Four"]
    assert written(book) == path.read_bytes()
    out = written(book, {"OEBPS/ch01.xhtml#2": "Five"})
    with zipfile.ZipFile(io.BytesIO(out)) as archive:
        assert archive.read("OEBPS/ch01.xhtml") == broken.replace("Four", "Five").encode()


def test_bytes_that_are_no_text_stay_beside_an_edit(tmp_path: Path) -> None:
    broken = page("<p>a ? b</p>", language="en").encode().replace(b"a ?", b"a \xff")
    path = make_epub(tmp_path / "a.epub", paragraphs=[["x"]], language="en", documents={"ch01.xhtml": broken})
    book = open_book(path)
    assert [p.text for p in book.paragraphs()] == ["a \ufffd b"]
    with zipfile.ZipFile(io.BytesIO(written(book, {"OEBPS/ch01.xhtml#1": "a \ufffd c"}))) as archive:
        assert archive.read("OEBPS/ch01.xhtml") == broken.replace(b"\xff b", b"\xff c")


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "shift_jis", "utf-8-sig"])
def test_documents_may_have_other_encodings(tmp_path: Path, encoding: str) -> None:
    text = "日本" if encoding == "shift_jis" else "café"
    declared = encoding.removesuffix("-sig")
    whole = page(f"<p>{text} x</p>", language="fr").replace("UTF-8", declared, 1)
    path = make_epub(
        tmp_path / "a.epub", paragraphs=[["x"]], language="fr", documents={"ch01.xhtml": whole.encode(encoding)}
    )
    book = open_book(path)
    assert [p.text for p in book.paragraphs()] == [f"{text} x"]
    out = written(book, {"OEBPS/ch01.xhtml#1": f"{text} y"})
    with zipfile.ZipFile(io.BytesIO(out)) as archive:
        assert archive.read("OEBPS/ch01.xhtml") == whole.replace(" x<", " y<").encode(encoding)


def test_the_contents_page_is_not_edited_even_in_the_spine(tmp_path: Path) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en")
    changed(path, "OEBPS/content.opf", '<itemref idref="c0"/>', '<itemref idref="nav"/><itemref idref="c0"/>')
    assert next(open_book(path).paragraphs()).id == "OEBPS/ch01.xhtml#1"


def test_names_in_the_package_may_be_escaped(tmp_path: Path) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=[["One"]], language="en")
    with zipfile.ZipFile(path) as archive:
        data = archive.read("OEBPS/ch01.xhtml")
    rebuilt(path, {"OEBPS/ch01.xhtml": None, "OEBPS/text/ch 1é.xhtml": data})
    changed(path, "OEBPS/content.opf", 'href="ch01.xhtml"', 'href="./text/../text/ch%201%C3%A9.xhtml"')
    assert [p.id for p in open_book(path).paragraphs()] == ["OEBPS/text/ch 1é.xhtml#1"]


def test_a_book_without_the_ending_of_its_name_is_known(tmp_path: Path) -> None:
    path = make_epub(tmp_path / "upload", paragraphs=[["One"]], language="en")
    assert open_book(path).format == "epub"


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("META-INF/container.xml", "OEBPS/content.opf", "nowhere.opf", "package file of .* is missing"),
        ("OEBPS/content.opf", 'idref="c1"', 'idref="c99"', "its spine names 'c99'"),
        ("OEBPS/content.opf", 'href="ch02.xhtml"', 'href="lost.xhtml"', "OEBPS/lost.xhtml', which is not"),
        ("OEBPS/content.opf", 'href="ch02.xhtml"', 'href="../../../etc/passwd"', "which is not in the archive"),
        ("OEBPS/content.opf", "itemref", "nothing", "its spine is empty"),
        ("OEBPS/content.opf", "application/xhtml+xml", "image/png", "no text in its spine"),
        ("OEBPS/content.opf", "</package>", "", "not well-formed"),
        ("OEBPS/content.opf", "<package", '<!DOCTYPE p [<!ENTITY a "b">]><package', "declares the XML entity"),
    ],
)
def test_a_broken_book_is_refused_with_a_sentence(tmp_path: Path, name: str, old: str, new: str, sentence: str) -> None:
    path = changed(make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en"), name, old, new)
    with pytest.raises(InputError, match=sentence):
        open_book(path)


def test_a_document_that_declares_entities_is_refused(tmp_path: Path) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=[["One"]], language="en")
    changed(path, "OEBPS/ch01.xhtml", "<!DOCTYPE html>", '<!DOCTYPE html [<!ENTITY a "b">]>')
    with pytest.raises(InputError, match=r"OEBPS/ch01\.xhtml in a\.epub declares the XML entity 'a'"):
        list(open_book(path).paragraphs())


def test_a_zip_that_is_not_a_book_is_refused(tmp_path: Path) -> None:
    path = rebuilt(make_epub(tmp_path / "a.epub", paragraphs=[["x"]], language="en"), {"META-INF/container.xml": None})
    with pytest.raises(InputError, match="not an EPUB"):
        open_book(path)
    path.write_bytes(b"this is not a zip")
    with pytest.raises(InputError, match="not a zip file"):
        open_book(path)


ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
 xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/>
 <enc:CipherData><enc:CipherReference URI="{}"/></enc:CipherData></enc:EncryptedData></encryption>"""


def test_a_protected_book_is_refused_but_scrambled_fonts_are_not(tmp_path: Path) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=[["x"]], language="en")
    fonts = ENCRYPTION.format("http://www.idpf.org/2008/embedding", "OEBPS/font.otf").encode()
    assert list(open_book(rebuilt(path, {"META-INF/encryption.xml": fonts})).paragraphs())
    locked = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/ch01.xhtml").encode()
    with pytest.raises(InputError, match="encrypted"):
        open_book(rebuilt(path, {"META-INF/encryption.xml": locked}))


@pytest.mark.subprocess
def test_epubcheck_passes_an_edited_book(tmp_path: Path, version: int) -> None:
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", version=version)
    book = open_book(path)
    new = {p.id: p.text.replace("e", "é <&> ") for p in book.paragraphs() if not p.skip}
    path.write_bytes(written(book, new))
    assert "No errors or warnings detected" in epubcheck(path)


@pytest.mark.parametrize("start", ['<p title="', "<!-- "])
def test_a_huge_token_is_refused_before_it_is_read(tmp_path: Path, start: str) -> None:
    # 90 kB as a file. It took over two minutes, since checking had no limit.
    document = page(f"<p>One.</p>{start}" + "x" * 90_000_000, language="en")
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", documents={"ch01.xhtml": document})
    with pytest.raises(InputError, match="more than 8 MB"):
        list(open_book(path).paragraphs())


@pytest.mark.parametrize(
    "encoding",
    "idna rot13 hex base64 zlib bz2 punycode uu quopri unicode_escape undefined utf-7 cp037 charmap unknown".split(),
)
def test_an_encoding_that_is_not_of_texts_is_refused(tmp_path: Path, encoding: str) -> None:
    document = page("<p>One.</p>", language="en")
    document = f'<?xml version="1.0" encoding="{encoding}"?>\n' + document[document.index("<!DOCTYPE") :]
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", documents={"ch01.xhtml": document})
    with pytest.raises(InputError, match=f"encoding '{encoding}', which is not supported"):
        list(open_book(path).paragraphs())


@pytest.mark.parametrize("half", [b"\x80\xdc", b"\xa4\xdc"])
@pytest.mark.parametrize("place", ["<p>He {}came.</p>", "<p {}>He came.</p>", "<p>He came.</p>{}"])
def test_utf_16_with_half_a_character_is_refused(tmp_path: Path, half: bytes, place: str) -> None:
    """Found by `make chaos`: such a half is no character, and can't be written back as a byte either."""
    before, _, after = f"<html><body>{place}</body></html>".partition("{}")
    document = codecs.BOM_UTF16_LE + before.encode("utf-16-le") + half + after.encode("utf-16-le")
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", documents={"ch01.xhtml": document})
    with pytest.raises(InputError, match="The document is not utf-16-le"):
        list(open_book(path).paragraphs())


@pytest.mark.parametrize("missing", [1, 9])
def test_utf_16_that_is_cut_within_a_character_is_refused(tmp_path: Path, missing: int) -> None:
    document = page("<p>One.</p>", language="en").replace('"utf-8"', '"utf-16"').encode("utf-16")[:-missing]
    path = make_epub(tmp_path / "a.epub", paragraphs=CHAPTERS, language="en", documents={"ch01.xhtml": document})
    with pytest.raises(InputError, match="utf-16"):
        list(open_book(path).paragraphs())

"""HTML books, valid or not, in any encoding, are written back without a changed byte."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from ape.books.book import Book
from ape.books.formats import open_book
from ape.errors import InputError

Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    def make(text: str, *, encoding: str = "utf-8", name: str = "book.html") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return make


def texts(book: Book) -> list[str]:
    return [paragraph.text for paragraph in book.paragraphs()]


def written(book: Book, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    book.write(out, (new or {}).get)
    return out.getvalue()


PAGE = """<!DOCTYPE html>
<html lang="fr"><head><meta charset="{}"><title>Le Port</title>
<style>p > b {{ color: red }}</style></head>
<body>
<h1>Un</h1>
<p>Caf\u00e9 <b>noir</b><br>et <a href="x?a=1&b=2">th\u00e9</a>.
<p>Deux
   lignes&nbsp;ici.
<h2>Deux</h2>
<ul><li>un<li>deux <i>trois</i></ul>
<pre>  ne
  pas</pre>
<p>fin</p>
</body></html>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "iso-8859-1", "windows-1252", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_unedited_file_is_the_same_in_every_encoding(made: Made, encoding: str, newline: str) -> None:
    path = made(PAGE.format(encoding.removesuffix("-sig")).replace("\n", newline), encoding=encoding)
    book = open_book(path)
    assert written(book) == path.read_bytes()
    assert texts(book)[2] == "Café ⟦1⟧noir⟦/1⟧⟦2/⟧et ⟦3⟧thé⟦/3⟧."
    assert (book.format, book.language, book.bilingual) == ("html", "fr", False)


def test_blocks_chapters_and_ids(made: Made) -> None:
    found = list(open_book(made(PAGE.format("utf-8"))).paragraphs())
    assert [(p.id, p.chapter, p.title, p.shape, p.skip) for p in found] == [
        ("#1", 0, "Le Port", "title", ""),
        ("#2", 0, "Un", "h1", ""),
        ("#3", 0, "Un", "p", ""),
        ("#4", 0, "Un", "p", ""),
        ("#5", 1, "Deux", "h2", ""),
        ("#6", 1, "Deux", "li", ""),
        ("#7", 1, "Deux", "li", ""),
        ("#8", 1, "Deux", "pre", "preformatted"),
        ("#9", 1, "Deux", "p", ""),
    ]
    assert [p.text for p in found][3:7] == ["Deux lignes\u00a0ici.", "Deux", "un", "deux ⟦1⟧trois⟦/1⟧"]


def test_headings_side_by_side_begin_one_chapter(made: Made) -> None:
    book = open_book(made("<h1>Part One</h1><h2>Chapter 1</h2><p>a</p><h2>Chapter 2</h2><p>b</p>"))
    assert [(p.chapter, p.title) for p in book.paragraphs()] == [
        (0, "Part One"), (0, "Chapter 1"), (0, "Chapter 1"), (1, "Chapter 2"), (1, "Chapter 2"),
    ]  # fmt: skip


def test_an_edit_changes_only_its_paragraph(made: Made) -> None:
    path = made(PAGE.format("iso-8859-1"), encoding="iso-8859-1")
    out = written(open_book(path), {"#3": "Café ⟦1⟧noir⟦/1⟧⟦2/⟧et ⟦3⟧thé “vert”⟦/3⟧."})
    # Windows-1252 is what a browser takes for Latin-1, and it has these quotes.
    assert out == path.read_bytes().replace(b"th\xe9</a>", b"th\xe9 \x93vert\x94</a>")


def test_a_character_that_the_encoding_lacks_is_a_reference(made: Made) -> None:
    path = made(PAGE.format("iso-8859-2"), encoding="iso-8859-2")
    out = written(open_book(path), {"#9": "fin 中 ou"})
    assert out == path.read_bytes().replace(b"<p>fin</p>", b"<p>fin &#20013; ou</p>")


def test_a_new_text_for_preformatted_text_is_not_taken(made: Made) -> None:
    path = made("<pre>a b</pre><p>c</p>")
    assert written(open_book(path), {"#1": "x"}) == path.read_bytes()


def test_a_paragraph_without_words_is_skipped(made: Made) -> None:
    path = made("<p>* * *</p><p>12 <b>3</b></p><p>x</p>")
    book = open_book(path)
    assert [p.skip for p in book.paragraphs()] == ["no words in it", "no words in it", ""]
    assert written(book, {"#1": "words"}) == path.read_bytes()


def test_an_empty_text_or_lost_mark_is_refused_with_the_paragraph(made: Made) -> None:
    book = open_book(made("<p>a <b>b</b></p>"))
    with pytest.raises(InputError, match=r"#1 .*⟦1⟧ is missing"):
        written(book, {"#1": "a b"})
    with pytest.raises(InputError, match="empty"):
        written(book, {"#1": " "})


@pytest.mark.parametrize(
    ("soup", "found"),
    [
        ("<p>one<p>two<div>three</div>", ["one", "two", "three"]),
        ("<p><b>one<p>two</b> three", ["one", "two⟦1/⟧ three"]),
        ("<p>a <b>b <i>c</b> d</i> e", ["a ⟦1⟧b ⟦2⟧c⟦/2⟧⟦/1⟧ d⟦3/⟧ e"]),
        ("a < b & c <d", ["a < b & c <d"]),
        ("<P CLASS=x>Up</P><BR>down", ["Up", "down"]),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", ["a", "b", "c", "d"]),
        ("<dl><dt>a<dd>b<dt>c</dl>", ["a", "b", "c"]),
        ("<p>x</div></span>y</p>z", ["x⟦1/⟧y", "z"]),
        ("<script>if (a < b) '</p>'</script>x", ["x"]),
        ("<p title='a > b'>x</p>", ["x"]),
        ("<a href=http://x/>link</a> after", ["⟦1⟧link⟦/1⟧ after"]),
        ("<p>x<!-- a > b --> y<!-- never ends", ["x⟦1/⟧ y"]),
        ("<p>&copy; &eacute;t&eacute; &amp &nosuch; &#233;</p>", ["© été &amp &nosuch; é"]),
        ("<textarea>a</textarea><select><option>b</select>c", ["a", "c"]),
        ("<o:p>word</o:p>", ["word"]),
    ],
)
def test_tag_soup_is_read_as_a_browser_would(made: Made, soup: str, found: list[str]) -> None:
    book = open_book(made(soup))
    assert texts(book) == found
    assert written(book) == soup.encode()


def test_a_bare_sign_does_not_become_mark_up_by_an_edit(made: Made) -> None:
    book = open_book(made("<p>A & B &copy; 1 < b &#233 old</p>"))
    out = written(book, {"#1": "A &amp; B © 1 <b é5 old"})
    assert out == "<p>A &amp;amp; B &copy; 1 &lt;b é5 old</p>".encode()


@pytest.mark.parametrize("encoding", ["shift_jis", "euc-jp", "gb18030", "big5", "koi8-r"])
def test_other_encodings_are_taken_from_the_file(made: Made, encoding: str) -> None:
    text = {"koi8-r": "Старый дом у моря"}.get(encoding, "山中的老房子日月")
    path = made(f"<meta charset={encoding}><p>{text}</p>", encoding=encoding)
    book = open_book(path)
    assert texts(book) == [text]
    assert written(book) == path.read_bytes()
    assert text.encode(encoding) + "。".encode(encoding, "xmlcharrefreplace") in written(book, {"#1": text + "。"})


def test_a_wrong_charset_is_not_believed(made: Made) -> None:
    assert texts(open_book(made("<meta charset=shift_jis><p>Déjà vu, été</p>"))) == ["Déjà vu, été"]


def test_an_encoding_nobody_states_is_asked_for_or_given(made: Made) -> None:
    path = made("<p>Ana \u015fi \u0163ara ei</p>", encoding="iso-8859-2")
    assert texts(open_book(path, encoding="iso-8859-2")) == ["Ana \u015fi \u0163ara ei"]


def test_xhtml_is_read_as_xml_and_as_soup_where_it_is_broken(made: Made) -> None:
    whole = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>a<span/>b</p>{}</body></html>'
    assert texts(open_book(made(whole.format("<p>c</p>"), name="a.xhtml"))) == ["a⟦1/⟧b", "c"]
    assert texts(open_book(made(whole.format("<p>c<br></p>"), name="b.xhtml"))) == ["a⟦1/⟧b", "c"]


def test_declared_entities_are_refused_in_html_too(made: Made) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "b">]><html><p>&a;</p></html>'
    with pytest.raises(InputError, match="declares the XML entity 'a'"):
        open_book(made(bomb))


def test_a_paragraph_of_30_000_words_is_one_paragraph(made: Made) -> None:
    words = "word " * 29_999 + "end"
    book = open_book(made(f"<p>{words}</p>"))
    assert texts(book) == [words]
    assert written(book, {"#1": words + "ing"}) == f"<p>{words}ing</p>".encode()


def test_an_unknown_ending_is_looked_into(made: Made) -> None:
    assert open_book(made("<!doctype html><p>a</p>", name="page.download")).format == "html"

"""A marked-up file is split into texts and written back; only edited texts differ."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.books.html import HtmlRules
from ape.books.markup.blocks import MarkupBlock, split_blocks, write_blocks
from ape.books.markup.html_tokenizer import read_html_tokens
from ape.books.markup.marked_text import ElementKind, MarkupRules
from ape.books.markup.xml_tokenizer import NotWellFormed, XmlElement, is_well_formed, read_xml
from ape.errors import InputError
from ape.text.inline_marks import find_marks, strip_marks
from tests.linear import assert_linear


class Codes(MarkupRules):
    """Rules of an invented exchange format with paired codes."""

    collapse = False

    def kind(self, element: XmlElement, path: Sequence[XmlElement]) -> ElementKind:
        kinds = {
            "seg": ElementKind.BLOCK,
            "g": ElementKind.INLINE,
            "x": ElementKind.STANDALONE,
            "bpt": ElementKind.HALF,
            "ept": ElementKind.HALF,
        }
        return kinds.get(element.name, ElementKind.FRAME)

    def half(self, element: XmlElement) -> tuple[bool, str]:
        return element.name == "bpt", element.get("i")


class Dribble(io.BytesIO):
    """A file that returns its head, then a few bytes at a time."""

    def __init__(self, data: bytes, *, head: int, step: int) -> None:
        super().__init__(data)
        self.size, self.step = head, step

    def read(self, size: int | None = -1, /) -> bytes:
        size, self.size = self.size, self.step
        return super().read(size)


def pieces(data: bytes, *, soup: bool = False, rules: MarkupRules | None = None) -> list[bytes | MarkupBlock]:
    file = io.BytesIO(data)
    tokens = read_html_tokens(file, "utf-8") if soup else read_xml(file, name="a.xhtml")
    return list(split_blocks(tokens, rules or HtmlRules()))


def blocks(text: str, *, soup: bool = False, rules: MarkupRules | None = None) -> list[MarkupBlock]:
    return [piece for piece in pieces(text.encode(), soup=soup, rules=rules) if isinstance(piece, MarkupBlock)]


def texts(text: str, *, soup: bool = False) -> list[str]:
    return [block.text for block in blocks(text, soup=soup)]


def raw(parts: Sequence[bytes | MarkupBlock]) -> bytes:
    return b"".join(part if isinstance(part, bytes) else part.raw for part in parts)


@pytest.mark.parametrize(
    ("paragraph", "text"),
    [
        ("He said <i>no</i>.", "He said ⟦1⟧no⟦/1⟧."),
        ("a <b>b <i>c</i></b> d", "a ⟦1⟧b ⟦2⟧c⟦/2⟧⟦/1⟧ d"),
        ("one<br/>two", "one⟦1/⟧two"),
        ("one<br/><img src='x'/>two", "one⟦1/⟧two"),
        ("<i>all of it</i>", "all of it"),
        (" <b> <i>all</i></b>\n ", "all"),
        ("<a id='p1'/>text", "text"),
        ("<a id='p1'></a>text<sup><a href='#n1'>1</a></sup>", "text"),
        ("a<sup><a href='#n1'>12</a></sup> b", "a⟦1/⟧ b"),
        ("a<a href='#n1'>[3]</a> b", "a⟦1/⟧ b"),
        ("x<sup>2</sup> and y", "x⟦1⟧2⟦/1⟧ and y"),
        ("<ruby>漢<rt>かん</rt></ruby>字", "⟦1/⟧字"),
        ("call <code>f(x)</code> now", "call ⟦1/⟧ now"),
        ("a <span><br/></span> b", "a ⟦1/⟧ b"),
        ("two\n    lines  here", "two lines here"),
        ("it&#8217;s&nbsp;&amp; &lt;so&gt;", "it’s\u00a0& <so>"),
        ("a<!-- why -->b<?page 3?>c", "a⟦1/⟧b⟦2/⟧c"),
        ("a&unknown;b", "a⟦1/⟧b"),
        ("x<![CDATA[ <&> ]]>y", "x <&> y"),
        ("<span class='drop'>O</span>nce", "⟦1⟧O⟦/1⟧nce"),
        ("a <i translate='no'>Ding</i> b", "a ⟦1/⟧ b"),
    ],
)
def test_inline_mark_up_becomes_marks(paragraph: str, text: str) -> None:
    assert texts(f"<html><body><p>{paragraph}</p></body></html>") == [text]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("<div>one<p>two</p>three</div>", ["one", "two", "three"]),
        ("<ul><li>one<ul><li>two</li></ul></li></ul>", ["one", "two"]),
        ("<div>one <a>two<p>three</p>four</a> five</div>", ["one", "two", "three", "four", "five"]),
        ("<p> </p><p><br/></p><p>x</p><hr/>", ["x"]),
        ("<table><tr><td>1</td><td>b</td></tr></table>", ["1", "b"]),
        ("<script>if (a)</script><style>p</style><p>x</p>", ["x"]),
    ],
)
def test_text_beside_blocks_is_a_block_of_its_own(content: str, found: list[str]) -> None:
    assert texts(f"<html><body>{content}</body></html>") == found
    assert texts(f"<html><body>{content}</body></html>", soup=True) == found


def test_preformatted_text_is_shown_but_can_not_be_edited() -> None:
    (block,) = blocks("<body><pre>a <b>x</b></pre></body>")
    assert (block.text, block.skip, block.shape) == ("a x", "preformatted", "pre")
    with pytest.raises(InputError, match="preformatted"):
        block.encode("b")


def test_a_text_with_something_like_our_marks_is_skipped() -> None:
    (block,) = blocks("<p>as in ⟦1⟧ or <i>so</i></p>")
    assert block.skip == "has marks of ours in it"
    with pytest.raises(InputError, match="marks of ours"):
        block.encode("as in ⟦1⟧ or ⟦1⟧thus⟦/1⟧")


def test_an_edit_keeps_tags_references_and_line_breaks_around_it() -> None:
    (block,) = blocks("<p>\n  Hello <i\nid='a'>you</i>, it&#8217;s\r\n  me<br />.<sup><a href='#n'>1</a></sup> </p>")
    assert block.encode("Hello ⟦1⟧thou⟦/1⟧, it’s\u00a0& me⟦2/⟧.").decode() == (
        "\n  Hello <i\nid='a'>thou</i>, it&#8217;s\u00a0&amp; me<br />.<sup><a href='#n'>1</a></sup> "
    )


def test_a_character_is_spelled_as_the_paragraph_spells_it() -> None:
    (block,) = blocks("<p>It&#8217;s a dog&#8217;s life.</p>")
    assert block.encode("That’s a cat’s life’s end.") == b"That&#8217;s a cat&#8217;s life&#8217;s end."


def test_marks_may_come_back_in_another_order() -> None:
    (block,) = blocks("<p>the <b>big</b> <i>red</i> house<br/>here</p>")
    new = "here⟦3/⟧ la maison ⟦2⟧rouge ⟦1⟧et grande⟦/1⟧⟦/2⟧"
    assert block.encode(new) == b"here<br/> la maison <i>rouge <b>et grande</b></i>"


@pytest.mark.parametrize("new", ["no marks", "⟦1⟧a", "⟦1⟧a⟦/1⟧⟦2/⟧", "⟦/1⟧a⟦1⟧", "⟦1⟧⟦1⟧a⟦/1⟧⟦/1⟧"])
def test_a_text_whose_marks_do_not_fit_is_refused(new: str) -> None:
    (block,) = blocks("<p>a <b>b</b> c</p>")
    with pytest.raises(InputError, match="mark"):
        block.encode(new)


def test_what_xml_can_not_hold_is_left_out() -> None:
    (block,) = blocks("<p>a</p>")
    assert block.encode("b\x00\x0b\ud800 ]]> c") == b"b ]]&gt; c"


def test_an_edited_literal_section_is_escaped() -> None:
    (block,) = blocks("<p><![CDATA[a < b]]> c</p>")
    assert block.encode("a < d c") == b"a &lt; d c"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-16", "utf-8", "utf-8-sig", "us-ascii"])
def test_new_text_is_in_the_encoding_of_the_file(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?>\r\n<p>cafe <i>x</i>\r\n y</p>'
    found = pieces(text.encode(encoding))
    assert raw(found) == text.encode(encoding)
    out = io.BytesIO()
    written = write_blocks(found, out, lambda block: block.text.replace("cafe", "café “中”"))
    assert (written.paragraphs, written.replaced) == (1, 1)
    (again,) = (piece for piece in pieces(out.getvalue()) if isinstance(piece, MarkupBlock))
    assert again.text == "café “中” ⟦1⟧x⟦/1⟧ y"


def test_codes_in_halves_are_pairs_where_they_nest() -> None:
    def text(content: str) -> str:
        (block,) = blocks(f"<seg>{content}</seg>", rules=Codes())
        return block.text

    assert text("a <bpt i='1'>&lt;b></bpt>b<ept i='1'>&lt;/b></ept>  c") == "a ⟦1⟧b⟦/1⟧  c"
    assert text("a <bpt i='1'/>b <bpt i='2'/>c<ept i='1'/> d<ept i='2'/> e") == "a ⟦1⟧b ⟦2/⟧c⟦/1⟧ d⟦3/⟧ e"
    assert text("a <bpt i='1'/>b <g>c<ept i='1'/> d</g> e") == "a ⟦1/⟧b ⟦2⟧c⟦3/⟧ d⟦/2⟧ e"
    assert text("<bpt i='1'/>all<ept i='1'/><x/>") == "all"
    assert text("<bpt i='1'/>a<ept i='1'/> b") == "⟦1⟧a⟦/1⟧ b"
    assert text("a <bpt i='1'/><ept i='1'/> b") == "a ⟦1/⟧ b"


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">',
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://example.org/x.dtd">',
    ],
)
def test_a_file_that_declares_entities_is_refused(subset: str) -> None:
    with pytest.raises(InputError, match="declares the XML entity"):
        pieces(f"<!DOCTYPE p [{subset}]><p>&b;</p>".encode())
    with pytest.raises(InputError, match="declares the XML entity"):
        is_well_formed(io.BytesIO(f"<!DOCTYPE p [{subset}]><p>&b;</p>".encode()), name="a.xhtml")


def test_a_doctype_is_kept_and_its_dtd_not_loaded() -> None:
    doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://localhost:1/xhtml11.dtd">'
    assert texts(f"{doctype}<p>a&nbsp;b</p>") == ["a\u00a0b"]


def test_what_is_not_well_formed_is_named_with_its_place() -> None:
    with pytest.raises(NotWellFormed, match=r"a\.xhtml is not well-formed XML: mismatched tag, at line 2"):
        pieces(b"<p>a\n<b></p>")


def test_an_encoding_that_can_not_be_read_is_named() -> None:
    with pytest.raises(InputError, match="'klingon-8'"):
        pieces(b'<?xml version="1.0" encoding="klingon-8"?><p>a</p>')


def test_an_endless_tag_is_refused() -> None:
    with pytest.raises(InputError, match="single tag"):
        pieces(b"<p><!--" + b"x" * (9 << 20))


@pytest.mark.parametrize("sign", ["<a", "<!--", "<!", "<a b='", '<a b="', "<b>", "&", "</", "<a <", "<a =", "<p><i>"])
def test_no_soup_takes_more_than_its_length(sign: str) -> None:
    def read(count: int) -> None:
        assert raw(pieces((sign * count).encode(), soup=True)) == (sign * count).encode()

    assert_linear(read, 500)


LETTERS = st.text("abcdeé’中 \n<>&\"'⟧", min_size=1, max_size=8)
NAMES = st.sampled_from(["i", "b", "span", "em"])
ALONE = ["<br/>", "<img src='a>b'/>", "<!-- a - b -->", "<?p i?>", "<code>x</code>", "<a id='x'></a>"]


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def wrapped(name: str, parts: list[str]) -> str:
    return f"<{name}>{''.join(parts)}</{name}>"


PLAIN = LETTERS.map(escaped)
REFERENCES = st.sampled_from(["&#8217;", "&#x4e2d;", "&nbsp;", "&amp;", "&#32;", "&#10;", "\r\n", "&quot;"])
LEAVES = st.one_of(PLAIN, REFERENCES, st.sampled_from(ALONE))
INLINE = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda name, parts: f"<{name}>{''.join(parts)}</{name}>", NAMES, st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)
PARAGRAPHS = st.lists(INLINE, min_size=1, max_size=5).map("".join)
BLOCKS = st.recursive(
    PARAGRAPHS.map(lambda inside: f"<p>{inside}</p>"),
    lambda inner: st.builds(
        lambda text, parts: f"<div>{text}{''.join(parts)}{text}</div>", PARAGRAPHS, st.lists(inner, max_size=3)
    ),
    max_leaves=5,
)
PAGES = st.lists(BLOCKS, min_size=1, max_size=4).map(lambda parts: f"<html><body>{''.join(parts)}</body></html>")


@pytest.mark.parametrize("soup", [False, True])
@settings(max_examples=30, deadline=None)
@given(page=PAGES)
def test_pieces_joined_are_the_file_and_each_text_put_back_is_itself(soup: bool, page: str) -> None:
    found = pieces(page.encode(), soup=soup)
    assert raw(found) == page.encode()
    for block in found:
        if isinstance(block, MarkupBlock):
            assert page.encode()[block.start : block.end] == block.raw
            assert block.marked.encode(block.text) == block.raw


@pytest.mark.parametrize("soup", [False, True])
@settings(max_examples=30, deadline=None)
@given(page=PAGES, data=st.data())
def test_an_edit_changes_only_its_own_block_and_reads_back(soup: bool, page: str, data: st.DataObject) -> None:
    found = pieces(page.encode(), soup=soup)
    places = [number for number, piece in enumerate(found) if isinstance(piece, MarkupBlock)]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    block = found[place]
    assert isinstance(block, MarkupBlock)
    new = edited(block.text, data)
    out = io.BytesIO()
    write_blocks(found, out, lambda other: new if other is block else None)
    before, after = raw(found[:place]), raw(found[place + 1 :])
    assert out.getvalue().startswith(before)
    assert out.getvalue().endswith(after)
    again = pieces(out.getvalue(), soup=soup)
    assert [p.text for p in again if isinstance(p, MarkupBlock)] == [
        re.sub(r"[ \n]+", " ", new) if p is block else p.text for p in found if isinstance(p, MarkupBlock)
    ]


def edited(text: str, data: st.DataObject) -> str:
    """The text with other words between its marks."""
    words = st.text("xyz’é ", min_size=1, max_size=6).map(lambda word: f"w{word}w")
    parts = re.split(r"(⟦/?\d+/?⟧)", text)
    kept = [part if part.startswith("⟦") and find_marks(part) else data.draw(words | st.just(part)) for part in parts]
    return "".join(["w", *kept, "w"]) if strip_marks("".join(kept)).strip() != text else text


@settings(max_examples=30, deadline=None)
@given(page=PAGES)
def test_a_word_at_the_end_leaves_all_other_bytes(page: str) -> None:
    for block in blocks(page):
        new = block.encode(block.text + "zebra")
        assert new.replace(b"zebra", b"") == block.raw


@settings(max_examples=30, deadline=None)
@given(page=PAGES, head=st.integers(60, 90), step=st.integers(1, 7))
def test_a_file_read_in_small_steps_is_the_same(page: str, head: int, step: int) -> None:
    tokens = read_xml(Dribble(page.encode(), head=head, step=step), name="a.xhtml")
    assert [p.text for p in split_blocks(tokens, HtmlRules()) if isinstance(p, MarkupBlock)] == texts(page)
    soup = list(split_blocks(read_html_tokens(Dribble(page.encode(), head=head, step=step), "utf-8"), HtmlRules()))
    assert raw(soup) == page.encode()

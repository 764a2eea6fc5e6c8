"""TMX: only target segments change, and other programs read the result."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from translate.storage import tmx as toolkit

from ape.books.tmx import TmxBook, open_tmx
from ape.errors import InputError
from tests.ape.books.schemas import assert_valid_tmx

SAMPLE = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
  <header creationtool="Loom" creationtoolversion="1" segtype="paragraph" o-tmf="loom" adminlang="en"
          srclang="fr" datatype="plaintext"><note>Not a text.</note></header>
  <body>
    <tu tuid="a1">
      <note>A note.</note>
      <prop type="x">A property.</prop>
      <tuv xml:lang="fr"><seg>Il pleut <bpt i="1">&lt;i></bpt>encore<ept i="1">&lt;/i></ept>.</seg></tuv>
      <tuv xml:lang="en-GB"><seg>It rains <bpt i="1">&lt;i></bpt>again<ept i="1">&lt;/i></ept> &amp; again.</seg></tuv>
    </tu>
    <tu tuid="a1">
      <tuv xml:lang="en-GB"><seg>The <hi>sea</hi><ph x="1">{0}</ph> is calm.</seg></tuv>
      <tuv xml:lang="fr"><seg>La mer est calme.</seg></tuv>
    </tu>
    <tu><tuv xml:lang="fr"><seg>Rien.</seg></tuv><tuv xml:lang="en-GB"><seg/></tuv></tu>
    <tu><tuv xml:lang="en-GB"><seg>Nothing.</seg></tuv></tu>
    <tu><tuv xml:lang="fr"><seg>12</seg></tuv><tuv xml:lang="en-GB"><seg>12</seg></tuv></tu>
  </body>
</tmx>
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.tmx"


def book(path: Path, text: str = SAMPLE, **languages: str) -> TmxBook:
    path.write_bytes(text.encode())
    return open_tmx(path, **languages)


def written(a_book: TmxBook, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    a_book.write(out, (new or {}).get)
    return out.getvalue()


def test_units_are_pairs_with_their_inline_codes_as_marks(path: Path) -> None:
    a_book = book(path)
    assert (a_book.bilingual, a_book.source_language, a_book.language) == (True, "fr", "en")
    assert [(item.id, item.source, item.text, item.skip) for item in a_book.paragraphs()] == [
        ("a1", "Il pleut ⟦1⟧encore⟦/1⟧.", "It rains ⟦1⟧again⟦/1⟧ & again.", ""),
        ("a1~2", "La mer est calme.", "The ⟦1⟧sea⟦/1⟧⟦2/⟧ is calm.", ""),
        ("tu3", "Rien.", "", "no translation to repair"),
        ("tu4", "", "Nothing.", "no source to compare it with"),
        ("tu5", "12", "12", "no words in it"),
    ]


def test_only_the_target_segment_changes(path: Path) -> None:
    a_book = book(path)
    new = written(a_book, {"a1": "It is raining, ⟦1⟧once more⟦/1⟧ & <more>.", "tu4": "never"}).decode()
    changed = [(old, now) for old, now in zip(SAMPLE.splitlines(), new.splitlines(), strict=True) if old != now]
    assert changed == [
        (
            '      <tuv xml:lang="en-GB"><seg>It rains <bpt i="1">&lt;i></bpt>again<ept i="1">&lt;/i></ept> &amp; '
            "again.</seg></tuv>",
            '      <tuv xml:lang="en-GB"><seg>It is raining, <bpt i="1">&lt;i></bpt>once more<ept i="1">&lt;/i></ept> '
            "&amp; &lt;more&gt;.</seg></tuv>",
        )
    ]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('<bpt i="1"/>Seas<ept i="1"/> are calm.', "⟦1⟧Seas⟦/1⟧ are calm."),
        ('Calm are <bpt i="1"/>seas<ept i="1"/>', "Calm are ⟦1⟧seas⟦/1⟧"),
        ('<bpt i="1"/>All of it.<ept i="1"/>', "All of it."),
        ('<bpt i="1"/>One <bpt i="2"/>two<ept i="1"/> three<ept i="2"/>.', "⟦1⟧One ⟦2/⟧two⟦/1⟧ three⟦3/⟧."),
        ('<it pos="begin"/>One<it pos="end"/> two', "One⟦1/⟧ two"),
    ],
)
def test_codes_pair_up_wherever_they_stand(path: Path, segment: str, text: str) -> None:
    a_book = book(path, SAMPLE.replace("Nothing.", segment))
    assert [item.text for item in a_book.paragraphs()][3] == text
    assert written(a_book) == path.read_bytes()


def test_a_cdata_section_is_spelled_out_where_it_is_edited(path: Path) -> None:
    a_book = book(path, SAMPLE.replace("<hi>sea</hi>", "<![CDATA[sea & sky]]>"))
    assert [item.text for item in a_book.paragraphs()][1] == "The sea & sky⟦1/⟧ is calm."
    new = written(a_book, {"a1~2": "Sea & sky,⟦1/⟧ calm."}).decode()
    assert '<seg>Sea &amp; sky,<ph x="1">{0}</ph> calm.</seg>' in new
    a_book = book(
        path, SAMPLE.replace("<seg>Nothing.</seg>", "<seg><![CDATA[a < b]]></seg>").replace("<seg>12", "<seg>x")
    )
    assert b"<![CDATA[a < b]]>" in written(a_book, {"tu5": "y"})
    path.write_bytes(SAMPLE.replace("is calm.", "<![CDATA[is & was]]>").encode())
    assert "&amp; will be</seg>" in written(open_tmx(path), {"a1~2": "⟦1⟧It⟦/1⟧⟦2/⟧is & will be"}).decode()


def test_another_program_reads_what_is_written(path: Path) -> None:
    path.write_bytes(written(book(path), {"a1~2": "⟦1⟧Seas⟦/1⟧⟦2/⟧ are calm.", "a1": "Rain ⟦1⟧again⟦/1⟧."}))
    store = toolkit.tmxfile.parsefile(str(path))  # type: ignore[no-untyped-call]
    read = [["".join(node.itertext()) for node in unit.getlanguageNodes()] for unit in store.units]
    assert read == [
        ["Il pleut <i>encore</i>.", "Rain <i>again</i>."],
        ["Seas{0} are calm.", "La mer est calme."],
        ["Rien.", ""],
        ["Nothing."],
        ["12", "12"],
    ]


@pytest.mark.subprocess
def test_the_output_is_valid(path: Path) -> None:
    assert_valid_tmx(written(book(path), {"a1": "Rain ⟦1⟧again⟦/1⟧.", "a1~2": "⟦1⟧Seas⟦/1⟧ ⟦2/⟧."}))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_an_unedited_file_is_byte_identical(path: Path, encoding: str, end: str) -> None:
    text = SAMPLE.replace("UTF-8", "UTF-8" if "8-sig" in encoding else encoding.upper()).replace("\n", end)
    path.write_bytes(text.encode(encoding))
    a_book = open_tmx(path)
    same = {item.id: item.text for item in a_book.paragraphs()}
    assert len(same) == 5
    assert written(a_book) == written(a_book, same) == text.encode(encoding)


def test_what_the_encoding_lacks_becomes_a_reference(path: Path) -> None:
    path.write_bytes(SAMPLE.replace("UTF-8", "ISO-8859-1").encode("latin-1"))
    assert b"<hi>\xe9t\xe9</hi>" in written(open_tmx(path), {"a1~2": "⟦1⟧été⟦/1⟧ “⟦2/⟧”"})
    assert b"&#8220;" in written(open_tmx(path), {"a1~2": "⟦1⟧été⟦/1⟧ “⟦2/⟧”"})


THREE = SAMPLE.replace('<tuv xml:lang="en-GB"><seg/></tuv>', '<tuv xml:lang="de"><seg>Nichts.</seg></tuv>')


def test_more_than_two_languages_are_asked_for(path: Path) -> None:
    with pytest.raises(InputError, match=r"fr, en-GB, de.*target_language"):
        book(path, THREE)
    assert [item.text for item in book(path, THREE, target_language="de").paragraphs() if item.text] == ["Nichts."]


def test_languages_may_be_named_without_their_country(path: Path) -> None:
    assert book(path, target_language="en").target == "en-GB"
    swapped = book(path, source_language="en", target_language="fr")
    assert next(swapped.paragraphs()).text == "Il pleut ⟦1⟧encore⟦/1⟧."


def test_a_language_that_is_not_there_is_a_clear_sentence(path: Path) -> None:
    with pytest.raises(InputError, match="has no text in the target language 'ja'"):
        book(path, target_language="ja")


def test_any_language_as_source_has_to_be_named(path: Path) -> None:
    text = SAMPLE.replace('srclang="fr"', 'srclang="*all*"')
    with pytest.raises(InputError, match="source_language and target_language"):
        book(path, text)
    assert book(path, text, source_language="fr").target == "en-GB"
    assert book(path, text, target_language="en").source == "fr"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<html/>", "is not TMX: its root element is <html>"),
        ('<tmx version="1.4"><body/></tmx>', "no translation units"),
        ("<tmx><body>", "not well-formed"),
        ('<!DOCTYPE tmx [<!ENTITY a "b">]><tmx>&a;</tmx>', "declares the XML entity 'a'"),
    ],
)
def test_bad_files_are_refused(path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        book(path, text)

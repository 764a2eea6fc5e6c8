"""XLIFF: targets are edited, finished and locked units are not, and files stay valid."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from translate.storage import xliff as toolkit
from translate.storage import xliff2 as toolkit2

from ape.books.xliff import XliffBook, open_xliff
from ape.errors import InputError
from tests.ape.books.schemas import assert_valid_xliff

ONE = """\
<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">
  <file original="ch1.xhtml" source-language="fr" target-language="en-GB" datatype="html">
    <header><note>Not a text.</note></header>
    <body>
      <trans-unit id="1">
        <source>Il pleut <g id="1">encore</g><x id="2"/>.</source>
        <target state="translated">It rains <g id="1">again</g><x id="2"/>, still.</target>
        <note>A note.</note>
        <alt-trans><source>Il pleut.</source><target>It pours.</target></alt-trans>
      </trans-unit>
      <group id="g" translate="no">
        <trans-unit id="2"><source>Code</source><target>Code</target></trans-unit>
        <trans-unit id="3" translate="yes"><source>Oui.</source><target>Yes.</target></trans-unit>
      </group>
      <trans-unit id="4" approved="yes"><source>Non.</source><target>No.</target></trans-unit>
      <trans-unit id="5"><source>Non.</source><target state="signed-off">No.</target></trans-unit>
      <trans-unit id="6"><source>Rien.</source></trans-unit>
      <trans-unit id="7"><source>Rien.</source><target/></trans-unit>
      <trans-unit id="8">
        <source>Un. Deux.</source>
        <seg-source><mrk mtype="seg" mid="0">Un.</mrk> <mrk mtype="seg" mid="1">Deux.</mrk></seg-source>
        <target><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1"><mrk mtype="term">Two</mrk>, he said.</mrk></target>
      </trans-unit>
      <trans-unit id="9"><source>Le <bpt id="1">[</bpt>vent<ept id="1">]</ept>.</source
        ><target>The <bpt id="1">[</bpt>wind<ept id="1">]</ept> blew.</target></trans-unit>
    </body>
  </file>
  <file original="ch2.xhtml" source-language="fr" target-language="en-GB" datatype="html">
    <body><trans-unit id="1"><source>Fin.</source><target>The end.</target></trans-unit></body>
  </file>
</xliff>
"""  # noqa: E501

TWO = """\
<?xml version="1.0" encoding="UTF-8"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="fr" trgLang="en">
  <file id="f1">
    <unit id="u1">
      <notes><note>A note.</note></notes>
      <originalData><data id="d1">&lt;br/></data></originalData>
      <segment id="s1" state="translated">
        <source>Il pleut <pc id="1">encore</pc>.</source>
        <target>It rains <pc id="1">again</pc>.</target>
      </segment>
      <ignorable><source> </source><target> </target></ignorable>
      <segment id="s2"><source>Il <ph id="2" dataRef="d1"/> vente.</source><target>The <ph id="2" dataRef="d1"/> wind.</target></segment>
    </unit>
    <unit id="u2"><segment><source>Un <sc id="1"/>deux<ec startRef="1"/>.</source><target>One <sc id="1"/>two<ec startRef="1"/>, three.</target></segment></unit>
    <unit id="u3" translate="no"><segment><source>Code</source><target>Code</target></segment></unit>
    <unit id="u4"><segment state="final"><source>Oui.</source><target>Yes.</target></segment></unit>
    <unit id="u5"><segment><source>Rien.</source></segment></unit>
    <unit id="u6"><segment><source>Voir <mrk id="m1" translate="no">X1</mrk>.</source><target>See <mrk id="m1" translate="no">X1</mrk> there.</target></segment></unit>
  </file>
</xliff>
"""  # noqa: E501


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "book.xlf"


def book(path: Path, text: str, **languages: str) -> XliffBook:
    path.write_bytes(text.encode())
    return open_xliff(path, **languages)


def written(a_book: XliffBook, new: dict[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    a_book.write(out, (new or {}).get)
    return out.getvalue()


def test_units_and_segments_of_version_1(path: Path) -> None:
    a_book = book(path, ONE)
    assert (a_book.source_language, a_book.language) == ("fr", "en")
    assert [(item.id, item.chapter, item.source, item.text, item.skip) for item in a_book.paragraphs()] == [
        ("1", 0, "Il pleut ⟦1⟧encore⟦/1⟧⟦2/⟧.", "It rains ⟦1⟧again⟦/1⟧⟦2/⟧, still.", ""),
        ("2", 0, "Code", "Code", "not to be translated"),
        ("3", 0, "Oui.", "Yes.", ""),
        ("4", 0, "Non.", "No.", "approved already"),
        ("5", 0, "Non.", "No.", "signed-off already"),
        ("6", 0, "Rien.", "", "no translation to repair"),
        ("7", 0, "Rien.", "", "no translation to repair"),
        ("8/0", 0, "Un.", "One.", ""),
        ("8/1", 0, "Deux.", "⟦1⟧Two⟦/1⟧, he said.", ""),
        ("9", 0, "Le ⟦1⟧vent⟦/1⟧.", "The ⟦1⟧wind⟦/1⟧ blew.", ""),
        ("1~2", 1, "Fin.", "The end.", ""),
    ]
    assert [item.title for item in a_book.paragraphs()][-2:] == ["ch1.xhtml", "ch2.xhtml"]


def test_units_and_segments_of_version_2(path: Path) -> None:
    a_book = book(path, TWO)
    assert (a_book.source_language, a_book.language) == ("fr", "en")
    assert [(item.id, item.source, item.text, item.skip) for item in a_book.paragraphs()] == [
        ("u1/s1", "Il pleut ⟦1⟧encore⟦/1⟧.", "It rains ⟦1⟧again⟦/1⟧.", ""),
        ("u1/s2", "Il ⟦1/⟧ vente.", "The ⟦1/⟧ wind.", ""),
        ("u2", "Un ⟦1⟧deux⟦/1⟧.", "One ⟦1⟧two⟦/1⟧, three.", ""),
        ("u3", "Code", "Code", "not to be translated"),
        ("u4", "Oui.", "Yes.", "final already"),
        ("u5", "Rien.", "", "no translation to repair"),
        ("u6", "Voir ⟦1/⟧.", "See ⟦1/⟧ there.", ""),
    ]


@pytest.mark.parametrize("declared", ["hex", "zlib", "idna", "shift_jis", "no-such"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_declaration_that_is_not_of_the_files_own_encoding_is_refused(
    path: Path, declared: str, encoding: str
) -> None:
    """In UTF-16 the declaration is found by the parser alone, which asked Python for `hex`."""
    path.write_bytes(TWO.replace('encoding="UTF-8"', f'encoding="{declared}"').encode(encoding))
    with pytest.raises(InputError, match=r"encoding|not well-formed"):
        list(open_xliff(path).paragraphs())


def test_only_targets_change(path: Path) -> None:
    new = {"1": "⟦1⟧Again⟦/1⟧ it rains⟦2/⟧.", "8/1": "“⟦1⟧Two⟦/1⟧.”", "1~2": "End & <out>.", "4": "never", "6": "never"}
    expected = (
        ONE.replace('It rains <g id="1">again</g><x id="2"/>, still.', '<g id="1">Again</g> it rains<x id="2"/>.')
        .replace('<mrk mtype="term">Two</mrk>, he said.', '“<mrk mtype="term">Two</mrk>.”')
        .replace("The end.", "End &amp; &lt;out&gt;.")
    )
    assert written(book(path, ONE), new).decode() == expected
    new = {"u1/s2": "Wind,⟦1/⟧ wind.", "u2": "⟦1⟧Two⟦/1⟧ and one.", "u6": "There see ⟦1/⟧."}
    expected = (
        TWO.replace('The <ph id="2" dataRef="d1"/> wind.', 'Wind,<ph id="2" dataRef="d1"/> wind.')
        .replace('One <sc id="1"/>two<ec startRef="1"/>, three.', '<sc id="1"/>Two<ec startRef="1"/> and one.')
        .replace('See <mrk id="m1" translate="no">X1</mrk> there.', 'There see <mrk id="m1" translate="no">X1</mrk>.')
    )
    assert written(book(path, TWO), new).decode() == expected


@pytest.mark.subprocess
def test_the_output_is_valid(path: Path) -> None:
    new = {"1": "⟦1⟧Again⟦/1⟧ it rains⟦2/⟧.", "8/1": "“⟦1⟧Two⟦/1⟧.”"}
    assert_valid_xliff(written(book(path, ONE), new), "1.2")
    assert_valid_xliff(written(book(path, TWO), {"u2": "⟦1⟧Two⟦/1⟧ and one."}), "2.0")


def test_another_program_reads_what_is_written(path: Path) -> None:
    path.write_bytes(written(book(path, ONE), {"3": "Yes, yes.", "1~2": "End."}))
    store = toolkit.xlifffile.parsefile(str(path))  # type: ignore[no-untyped-call]
    units = {unit.xmlelement.get("id"): unit for unit in store.units}
    assert (units["3"].source, units["3"].target) == ("Oui.", "Yes, yes.")
    assert units["4"].target == "No."
    path.write_bytes(written(book(path, TWO), {"u2": "⟦1⟧Two⟦/1⟧ and one."}))
    store = toolkit2.Xliff2File.parsefile(str(path))  # type: ignore[no-untyped-call]
    targets = [str(unit.target) for unit in store.units]
    assert any("and one." in target for target in targets)
    assert "Yes." in targets


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
@pytest.mark.parametrize("sample", [ONE, TWO], ids=["1.2", "2.0"])
def test_an_unedited_file_is_byte_identical(path: Path, sample: str, encoding: str, end: str) -> None:
    text = sample.replace("UTF-8", "UTF-8" if "8-sig" in encoding else encoding.upper()).replace("\n", end)
    path.write_bytes(text.encode(encoding))
    a_book = open_xliff(path)
    same = {item.id: item.text for item in a_book.paragraphs()}
    assert len(same) >= 7
    assert written(a_book) == written(a_book, same) == text.encode(encoding)


def test_prefixed_names_and_locked_units_are_known(path: Path) -> None:
    text = (
        '<x:xliff xmlns:x="urn:oasis:names:tc:xliff:document:1.2" xmlns:m="urn:m" version="1.2"><x:file original="a" '
        'source-language="fr" target-language="en" datatype="x"><x:body><x:trans-unit id="1"><x:source>a</x:source>'
        '<x:target>b</x:target></x:trans-unit><x:trans-unit id="2" m:locked="true"><x:source>a</x:source>'
        "<x:target>b</x:target></x:trans-unit></x:body></x:file></x:xliff>"
    )
    assert [item.skip for item in book(path, text).paragraphs()] == ["", "locked"]


def test_files_in_several_languages_are_asked_for(path: Path) -> None:
    text = ONE.replace(
        'ch2.xhtml" source-language="fr" target-language="en-GB"', 'b" source-language="fr" target-language="de"'
    )
    with pytest.raises(InputError, match=r"fr to en-GB, fr to de.*target_language"):
        book(path, text)
    a_book = book(path, text, target_language="de")
    assert [item.text for item in a_book.paragraphs() if not item.skip] == ["The end."]
    assert {item.skip for item in a_book.paragraphs()} >= {"in another language"}


def test_a_language_that_is_not_there_is_a_clear_sentence(path: Path) -> None:
    with pytest.raises(InputError, match="has translations from fr to en"):
        book(path, TWO, target_language="ja")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<html/>", "is not XLIFF 1.2 or 2.x: it begins with <html>"),
        ('<xliff version="3.0"/>', "version 3.0"),
        ('<xliff version="2.0">', "not well-formed"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]><xliff version="2.0">&a;</xliff>', "XML entity 'a'"),
    ],
)
def test_bad_files_are_refused(path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        book(path, text)


@pytest.mark.parametrize("wanted", ["en-US", "en_gb"])
def test_of_two_kinds_of_a_language_the_very_one_is_meant(path: Path, wanted: str) -> None:
    file = '<file source-language="fr" target-language="{}"><body/></file>'.format
    path.write_text(f'<xliff version="1.2">{file("en-US")}{file("en-GB")}</xliff>')
    assert open_xliff(path, target_language=wanted).target.lower() == wanted.replace("_", "-").lower()
    with pytest.raises(InputError, match="fr to en-US, fr to en-GB"):
        open_xliff(path, target_language="en")

"""Encodings are detected or refused as ambiguous; lines keep their bytes."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.books.encoding import Encoding, find_encoding, read_lines
from ape.errors import InputError

FRENCH = "La vieille fée rêvait d'un été sans fin près de la rivière. Où allait le garçon ? À la forêt.\n" * 6
ENGLISH = "The café was closed, and the naïve old man went home to wait there for a long time.\n"
GERMAN = "Die alte Frau ging über die Straße und hörte die Glocken läuten.\n"
POLISH = "Stary człowiek siedział przy oknie i słuchał wody. Śniła mu się ścieżka, którą szedł.\n" * 6
CZECH = "Starý muž seděl u okna a poslouchal, jak voda stéká ze střechy. Příliš žluťoučký kůň.\n" * 6
TURKISH = "Yaşlı adam pencerenin yanında oturup çatıdan akan suyun sesini dinliyordu.\n" * 6
DVORAK = "The orchestra played Dvořák until late, and nobody knew why the old man had come.\n" * 6
RUSSIAN = "Ночью пошёл дождь, и старик сидел у окна, слушая, как вода стекает с крыши.\n" * 6
CHINESE = "夜里下起了雨，老人坐在窗前，听着屋檐的水声。他想起了很久以前的一个朋友。\n" * 6
JAPANESE = "夜になると雨が降り出した。老人は窓辺に座って、軒の水音を聞いていた。\n" * 6


def file_of(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("bom", "name"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides(tmp_path: Path, bom: bytes, name: str) -> None:
    path = file_of(tmp_path / "a.txt", bom + FRENCH.encode(name))
    assert find_encoding(path) == Encoding(name, bom)
    assert "".join(line.text + line.end for line in read_lines(path, find_encoding(path))) == FRENCH


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        (FRENCH, "utf-8", "utf-8"),
        (FRENCH, "latin-1", "cp1252"),
        (ENGLISH, "latin-1", "cp1252"),
        ("“Closed,” he said — and that wasn’t a lie.\n", "cp1252", "cp1252"),
        (GERMAN, "latin-1", "cp1252"),
        (POLISH, "cp1250", "cp1250"),
        (POLISH, "iso8859-2", "iso8859_2"),
        (CZECH, "cp1250", "cp1250"),
        (TURKISH, "cp1254", "cp1254"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (RUSSIAN.replace("\n", "\tAt night it rained, and the old man sat at the window.\n"), "cp1251", "cp1251"),
        (CHINESE, "gb2312", "gb18030"),
        (CHINESE, "gbk", "gb18030"),
        (CHINESE.replace("\n", "\tAt night it rained, and the old man sat at the window.\n"), "gbk", "gb18030"),
        (JAPANESE, "shift_jis", "cp932"),
        ("plain words\n", "ascii", "utf-8"),
        ("", "ascii", "utf-8"),
    ],
)
def test_what_can_be_told_is_told(tmp_path: Path, text: str, written: str, read: str) -> None:
    assert find_encoding(file_of(tmp_path / "a.txt", text.encode(written))) == Encoding(read)


def test_where_two_encodings_are_as_likely_the_caller_is_asked(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.txt", DVORAK.encode("cp1250"))
    with pytest.raises(InputError, match=r"Set its encoding") as caught:
        find_encoding(path)
    assert "cp1250 reads “Dvořák”" in str(caught.value)  # a word that shows which one is right
    assert "cp1252 reads “Dvoøák”" in str(caught.value)
    assert find_encoding(path, encoding="cp1250") == Encoding("cp1250")


def test_binary_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="NUL bytes"):
        find_encoding(file_of(tmp_path / "a.txt", b"PK\x03\x04\x00\x00\x00rest"))


def test_utf_16_without_a_mark_can_be_named(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.txt", FRENCH.encode("utf-16-le"))
    assert find_encoding(path, encoding="utf-16") == Encoding("utf-16-le")
    marked = file_of(tmp_path / "b.txt", codecs.BOM_UTF16_BE + FRENCH.encode("utf-16-be"))
    assert find_encoding(marked, encoding="UTF-16") == Encoding("utf-16-be", codecs.BOM_UTF16_BE)


@pytest.mark.parametrize("name", ["klingon", "rot13", "base64", "x" * 500])
def test_an_unknown_encoding_is_a_clear_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a known text encoding"):
        find_encoding(file_of(tmp_path / "a.txt", b"words"), encoding=name)


@pytest.mark.parametrize("name", ["latin-1", "gb18030", "utf-8", "utf-8-sig", "utf-16"])
def test_a_file_that_shows_its_encoding_is_left_alone_by_a_name_for_the_other(tmp_path: Path, name: str) -> None:
    marked = file_of(tmp_path / "a.txt", codecs.BOM_UTF8 + FRENCH.encode())
    assert find_encoding(marked, encoding=name) == Encoding("utf-8", codecs.BOM_UTF8)
    assert find_encoding(file_of(tmp_path / "b.txt", FRENCH.encode()), encoding=name) == Encoding("utf-8")


def test_plain_ascii_is_in_whatever_encoding_is_named(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.txt", b"Only plain words.\n")
    assert find_encoding(path, encoding="cp1252") == Encoding("cp1252")
    assert find_encoding(path, encoding="utf-16") == Encoding("utf-8")  # it can't be: that has zeros


def test_a_wrong_name_tells_where_it_fails(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.txt", b"a" * 70_000 + b"\xff" + b"b" * 70_000)
    with pytest.raises(InputError, match="the byte at 70,000"):
        find_encoding(path, encoding="utf-8")


def test_a_character_cut_in_two_by_the_end_of_a_chunk_is_read(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.txt", b"a" * 65_535 + "é".encode() + b"b")
    assert find_encoding(path).name == "utf-8"


@given(parts=st.lists(st.sampled_from(["a", "é", "\n", "\r", "\r\n", " ", "\u2028", "\x85", "\x0b", "漢"])))
@pytest.mark.parametrize("name", ["utf-8", "utf-16-le", "gb18030"])
def test_lines_end_at_cr_and_lf_and_nowhere_else(
    tmp_path_factory: pytest.TempPathFactory, name: str, parts: list[str]
) -> None:
    text = "".join(parts)
    path = file_of(tmp_path_factory.getbasetemp() / "lines.txt", text.encode(name))
    found = list(read_lines(path, Encoding(name)))
    assert b"".join(line.raw for line in found) == text.encode(name)
    assert "".join(line.text + line.end for line in found) == text
    assert all(line.end in ("\n", "\r", "\r\n") for line in found[:-1])
    assert not any("\n" in line.text or "\r" in line.text for line in found)


def test_a_line_end_cut_in_two_by_the_end_of_a_chunk_is_one(tmp_path: Path) -> None:
    path = file_of(tmp_path / "a.txt", b"a" * 65_535 + b"\r\nb\rc")
    assert [line.end for line in read_lines(path, Encoding("utf-8"))] == ["\r\n", "\r", ""]


def test_quotes_that_a_file_cannot_hold_become_plain_ones() -> None:
    assert Encoding("iso8859-1").encode("“Où ?” — «là»…", place="p1") == b'"O\xf9 ?" -- \xabl\xe0\xbb...'


def test_a_letter_that_a_file_cannot_hold_is_a_clear_sentence() -> None:
    with pytest.raises(InputError, match=r"Paragraph p7: .*'ж' \(U\+0436\).*iso8859-1.*UTF-8"):
        Encoding("iso8859-1").encode("жить", place="Paragraph p7")


@pytest.mark.parametrize("text", ["“Où ?” — «là»…", "déjà", "a\u00a0b\u200bc", "a\ud800"])
@pytest.mark.parametrize("name", ["iso8859-1", "cp1252", "ascii", "utf-8"])
def test_a_fitted_text_is_what_is_read_back(name: str, text: str) -> None:
    encoding = Encoding(name)
    if name == "ascii" and ("é" in text or "ù" in text):
        with pytest.raises(InputError, match=r"U\+00[EF]9.*ascii"):
            encoding.fit_text(text)
    else:
        fitted = encoding.fit_text(text)
        assert encoding.encode(text, place="p1").decode(name) == fitted == encoding.fit_text(fitted)


def test_references_and_half_characters_need_no_plain_form() -> None:
    assert Encoding("iso8859-1").encode("“ж”", place="p1", references=True) == b"&#8220;&#1078;&#8221;"
    assert Encoding("utf-8").encode("a\ud800", place="p1") == "a\ufffd".encode()
    assert Encoding("iso8859-1").encode("a\ud800", place="p1") == b"a?"

"""Reading is linear: 16 times of any pattern takes about 16 times as long, in every format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ape.books.formats import open_book
from ape.errors import InputError
from tests.linear import assert_linear


def repeat(pattern: str) -> Callable[[int], str]:
    """Fill a text of a given length with a pattern."""
    return lambda size: pattern * (size // len(pattern))


def nest(opening: str, closing: str) -> Callable[[int], str]:
    """Fill a text of a given length with nested brackets."""

    def make(size: int) -> str:
        count = size // (len(opening) + len(closing))
        return opening * count + "a" + closing * count

    return make


MARKDOWN: Mapping[str, Callable[[int], str]] = {
    "emphasis": repeat("*a* "),
    "strong": repeat("**a** "),
    "unclosed emphasis": repeat("*a _b "),
    "runs of stars": repeat("a***b**c* "),
    "nested emphasis": nest("*a **b ", "c** d* "),
    "hard breaks": repeat("a  \n"),
    "backslash breaks": repeat("a\\\n"),
    "soft breaks": repeat("a\n"),
    "escapes": repeat("\\* a "),
    "backslashes": repeat("\\"),
    "entities": repeat("&amp; "),
    "ampersands": repeat("&"),
    "tags": repeat("<b>x</b> "),
    "unmatched tags": repeat("<a></b>"),
    "unmatched closing tags": nest("<a>", "</b>"),
    "comments": lambda size: "a " + repeat("<!-- ")(size),
    "links": repeat("[a](b) "),
    "unclosed links": repeat("[a](b"),
    "nested links": nest("[", "](b)"),
    "nested images": nest("![", "](b)"),
    "brackets": repeat("["),
    "footnotes": repeat("[^1] "),
    "unclosed footnotes": repeat("[^"),
    "code": repeat("`a` "),
    "backticks": lambda size: "".join("`" * (number % 50 + 1) + " " for number in range(size // 27)),
    "maths": repeat("$$a\n"),
    "line blocks": repeat("| a\n"),
    "definitions": repeat("a\n: b\n"),
    "link definitions": repeat("[a]: b\n"),
    "unclosed titles": repeat('[a]: b "\n'),
    "quotes": repeat("> a\nb\n"),
    "items": repeat("- a\n"),
    "table rows": lambda size: "|a|b|\n|-|-|\n" + repeat("|a|b|\n")(size),
    "wide tables": lambda size: "|a" * (size // 4) + "|\n" + "|-" * (size // 4) + "|\n",
    "strikethrough": repeat("~~a~~ "),
}


def tsv(cell: Callable[[int], str]) -> Callable[[int], str]:
    """A table with one cell of a given length."""
    return lambda size: f"source\tmt\na\t{cell(size)}\n"


def tmx(segment: Callable[[int], str]) -> Callable[[int], str]:
    """A translation memory with one translation of a given length."""
    head = (
        '<?xml version="1.0"?><tmx version="1.4"><header srclang="fr"/><body><tu><tuv xml:lang="fr"><seg>a</seg></tuv>'
    )
    return lambda size: f'{head}<tuv xml:lang="en"><seg>{segment(size)}</seg></tuv></tu></body></tmx>'


# Patterns of the other formats, with the size to begin with.
OTHERS: Mapping[str, tuple[str, int, Callable[[int], str]]] = {
    "one line": (".txt", 2_000_000, repeat("word ")),
    "one line of Chinese": (".txt", 300_000, repeat("汉字文本")),
    "one line without spaces": (".txt", 2_000_000, repeat("word")),
    "blank lines": (".txt", 12_000, repeat("\n")),
    "carriage returns": (".txt", 6_000, repeat("a\r")),
    "one JSON line": (".jsonl", 2_000_000, lambda size: '{"source": "a", "mt": "' + repeat("word ")(size) + '"}\n'),
    "JSON keys": (".jsonl", 50_000, lambda size: "{" + "".join(f'"k{n}":1,' for n in range(size // 12)) + '"mt": ""}'),
    "JSON spaces": (".jsonl", 200_000, lambda size: "{" + " " * size + '"mt": "a"}'),
    "one TSV line": (".tsv", 2_000_000, tsv(repeat("word "))),
    "quoted cells": (".tsv", 50_000, repeat('a\t"' + "word word word\n" * 1000 + '"\n')),
    "doubled quotes": (".tsv", 200_000, tsv(lambda size: '"' + repeat('a""')(size) + '"')),
    "unclosed cells": (".tsv", 50_000, repeat('a\t"b\n')),
    "tabs": (".tsv", 50_000, repeat("\t")),
    "ruby": (".html", 5_000, lambda size: "<p>" + repeat("<ruby>a<rt>b</rt></ruby>")(size)),
    "open rt": (".html", 2_500, repeat("<rt>a")),
    "open elements": (".html", 2_500, repeat("<b>a")),
    "open blocks": (".html", 2_500, repeat("<div>a")),
    "stray inline ends": (".html", 2_500, lambda size: "<div>" * 500 + repeat("a</i>")(size)),
    "stray block ends": (".html", 2_500, lambda size: "<table>" + "<i>" * 500 + repeat("a</p>")(size)),
    "stray row ends": (".html", 2_500, lambda size: "<div>" * 500 + repeat("a</tr>")(size)),
    "nested notes": (".html", 2_500, repeat("<sup><a>1")),
    "angle brackets": (".html", 2_500, repeat("<")),
    "an unclosed comment": (".html", 250_000, lambda size: "<p>a<!--" + repeat("word ")(size)),
    "an unclosed script": (".html", 250_000, lambda size: "<p>a<script>" + repeat("word ")(size)),
    "one tag": (".html", 50_000, lambda size: "<p " + repeat("a=b ")(size) + ">a"),
    "an unclosed attribute": (".html", 50_000, lambda size: '<p a="' + repeat("word ")(size)),
    "line breaks": (".html", 2_500, lambda size: "<p>" + repeat("a<br>")(size)),
    "empty elements": (".html", 2_500, lambda size: "<p>a" + repeat("<b></b>")(size)),
    "halves": (".tmx", 10_000, tmx(lambda size: "".join(f'<bpt i="{n}"/>a' for n in range(size // 15)))),
    "unmatched halves": (
        ".tmx",
        10_000,
        tmx(lambda size: "".join(f'<bpt i="{n}"/>a' for n in range(size // 30)) + repeat('<ept i="x"/>a')(size // 2)),
    ),
}


def read(path: Path, text: str) -> None:
    """Read a book, or refuse it."""
    path.write_text(text, encoding="utf-8", newline="")
    try:
        for _ in open_book(path).paragraphs():
            pass
    except InputError:
        pass


@pytest.mark.parametrize("name", MARKDOWN)
def test_reading_markdown_is_linear(name: str, tmp_path: Path) -> None:
    assert_linear(lambda size: read(tmp_path / "book.md", MARKDOWN[name](size)), 2_500)


@pytest.mark.parametrize("name", OTHERS)
def test_reading_other_formats_is_linear(name: str, tmp_path: Path) -> None:
    suffix, start, pattern = OTHERS[name]
    assert_linear(lambda size: read(tmp_path / f"book{suffix}", pattern(size)), start)

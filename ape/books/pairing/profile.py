"""What an aligner need know of a book: a few numbers a paragraph instead of its text, so that a whole book fits.

Blank paragraphs are left out. Everything is kept in flat arrays: some 30 bytes and its words' hashes for a paragraph.
"""

from __future__ import annotations

import unicodedata
import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from ape.books.book import Paragraph
from ape.text.inline_marks import strip_marks
from ape.text.numerals import TextNumbers
from ape.text.size import text_size

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

# How many kinds each sign of a paragraph tells apart; see `_signs`.
KINDS = (4, 5, 4, 4, 4, 3)
START, END, ASKS, CRIES, SPEECHES, HEADING = range(len(KINDS))
# Signs of which paragraphs that belong together have the sum; of the others they have the first's or the last's.
COUNTED = (ASKS, CRIES, SPEECHES)

_OPENING = "“„«「『‟‹〝"
_QUOTES = regex.compile(f"[{_OPENING}]")
_STRAIGHT = '"'
_DASHES = "-–—―－"
_CLOSING = "”»」』›\"’'"
_TERM = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]+|[\p{L}\p{M}]{3,}")
_IDEOGRAPHS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
# A word is known by so many letters at its head: endings differ within a language and between languages.
_STEM = 5
# The words of a very long paragraph say no more of where it belongs than these many.
_MOST_TERMS = 400


@dataclass(slots=True)
class BookProfile:
    """A book, or a part of one, by the numbers. `chapters` has the first paragraph of each, and the end."""

    sizes: Floats
    signs: Ints
    shapes: Ints
    texts: Ints
    terms: Ints
    ends: Ints
    chapters: list[int] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sizes)

    def part(self, start: int, end: int) -> BookProfile:
        """The paragraphs from one up to another."""
        first = int(self.ends[start - 1]) if start else 0
        last = int(self.ends[end - 1]) if end else 0
        within = slice(start, end)
        return BookProfile(
            self.sizes[within], self.signs[within], self.shapes[within], self.texts[within],
            self.terms[first:last], self.ends[within] - first,
        )  # fmt: skip

    def places(self) -> Ints:
        """For each of its terms, the paragraph that has it."""
        counts = np.diff(self.ends, prepend=0)
        return np.repeat(np.arange(len(self)), counts)


def profile_paragraphs(paragraphs: Iterable[Paragraph], *, language: str = "") -> BookProfile:
    """Read a book once and keep its numbers. Numerals in words are read where we know the language's."""
    sizes, signs, shapes, texts, terms, ends = (array(code) for code in "dBIIIq")
    chapters: list[int] = []
    titles: list[str] = []
    chapter: int | None = None
    for paragraph in paragraphs:
        text = strip_marks(paragraph.text).strip()
        if not text:
            continue
        if paragraph.chapter != chapter:
            chapter = paragraph.chapter
            chapters.append(len(sizes))
            titles.append(paragraph.title)
        sizes.append(text_size(text))
        signs.extend(_signs(text, paragraph.shape))
        shapes.append(zlib.crc32(paragraph.shape.encode()))
        texts.append(zlib.crc32(text.encode("utf-8", "replace")))
        terms.extend(_terms(text, language))
        ends.append(len(terms))
    chapters.append(len(sizes))
    return BookProfile(
        np.array(sizes), np.array(signs).reshape(-1, len(KINDS)), np.array(shapes), np.array(texts), np.array(terms),
        np.array(ends), chapters, titles,
    )  # fmt: skip


def _signs(text: str, shape: str) -> tuple[int, ...]:
    """How it starts and ends, how often it asks, cries out and has somebody speak, and whether it is a heading."""
    speeches = len(_QUOTES.findall(text)) + (text.count(_STRAIGHT) + 1) // 2
    return (
        _start(text[0]),
        _end(text[-1]),
        min(text.count("?") + text.count("？") + text.count("؟"), 3),
        min(text.count("!") + text.count("！"), 3),
        min(speeches, 3),
        1 if shape[:1] == "h" and shape[1:].isdigit() else 0 if shape == "p" else 2,
    )


def _start(sign: str) -> int:
    if sign in _OPENING or sign in "\"'‘":
        return 1
    return 2 if sign in _DASHES else 3 if sign.isdigit() else 0


def _end(sign: str) -> int:
    if sign in ".。।":
        return 0
    if sign in _CLOSING:
        return 1
    return 2 if sign in "?!？！" else 3 if sign in "…:：,，;；—" else 4


def _terms(text: str, language: str) -> set[int]:
    """Hashes of what may be known again in another language: numbers, names, stems, ideographs two by two."""
    numbers = TextNumbers(text, language)
    found = {_hash(f"#{number.joined}") for number in numbers.digits}
    found |= {_hash(f"#{value}") for value in numbers.values}
    for run in _TERM.findall(text):
        if _IDEOGRAPHS.match(run):
            found.update(_hash(run[place : place + 2]) for place in range(len(run) - 1))
        else:
            found.add(_word_hash(run))
        if len(found) > _MOST_TERMS:
            break
    return found


@lru_cache(maxsize=1 << 14)
def _word_hash(word: str) -> int:
    plain = unicodedata.normalize("NFKD", word.casefold())
    return _hash("".join(letter for letter in plain if not unicodedata.combining(letter))[:_STEM])


def _hash(term: str) -> int:
    """The same in every run, which Python's own is not."""
    return zlib.crc32(term.encode("utf-8", "replace"))

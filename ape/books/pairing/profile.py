"""A compact profile of a book for the aligner: a few numbers for each paragraph instead of its text.

Blank paragraphs are left out. A paragraph takes about 30 bytes and the hashes of its words, in flat arrays.
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

# The number of kinds of each sign of a paragraph; see `_signs`.
KINDS = (4, 5, 4, 4, 4, 3)
START, END, QUESTIONS, EXCLAMATIONS, SPEECHES, HEADING = range(len(KINDS))
# Signs that are summed over a run of paragraphs; others are those of its first or last paragraph.
COUNTED = (QUESTIONS, EXCLAMATIONS, SPEECHES)

_OPENING = "“„«「『‟‹〝"
_QUOTES = regex.compile(f"[{_OPENING}]")
_STRAIGHT = '"'
_DASHES = "-–—―－"
_CLOSING = "”»」』›\"’'"
_TERM = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]+|[\p{L}\p{M}]{3,}")
_IDEOGRAPHS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
# Words are compared by their first letters, since endings differ.
_STEM = 5
# The most terms of a paragraph.
_MOST_TERMS = 400


@dataclass(slots=True)
class BookProfile:
    """The profile of a book or of a part. `chapters` has the first paragraph of each chapter, and the end."""

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
        """The profile of the paragraphs from `start` to `end`."""
        first = int(self.ends[start - 1]) if start else 0
        last = int(self.ends[end - 1]) if end else 0
        within = slice(start, end)
        return BookProfile(
            self.sizes[within], self.signs[within], self.shapes[within], self.texts[within],
            self.terms[first:last], self.ends[within] - first,
        )  # fmt: skip

    def places(self) -> Ints:
        """The paragraph of each term."""
        counts = np.diff(self.ends, prepend=0)
        return np.repeat(np.arange(len(self)), counts)


def profile_paragraphs(paragraphs: Iterable[Paragraph], *, language: str = "") -> BookProfile:
    """Profile a book in one pass. Spelled-out numerals are read in the languages that support it."""
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
    """Kinds of start and end, numbers of questions, exclamations and speeches, and whether it is a heading."""
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
    """Hashes of terms that may recur in another language: numbers, names, stems, pairs of ideographs."""
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
    """A hash that is the same in every process, unlike `hash`."""
    return zlib.crc32(term.encode("utf-8", "replace"))

"""Detect the languages of a book and its MT from samples, and whether the two files were swapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ape.books.book import Book
from ape.errors import InputError
from ape.text.inline_marks import strip_marks
from ape.text.languages import detect_language, language_code, language_name

# The sample: paragraphs spread evenly over the first few thousand, and characters of each.
_PARAGRAPHS = 64
_MAX_PARAGRAPHS = 4_000
_LETTERS = 400
# Paragraphs are joined up to this length, for reliable detection.
_PIECE = 300
# The share of a sample that must agree to outweigh the caller or the file.
_AGREED = 0.7


@dataclass(frozen=True, slots=True)
class BookLanguages:
    """The languages of a source and its MT as ISO 639 codes. `notes` are warnings about them."""

    source: str
    target: str
    notes: tuple[str, ...] = ()


def check_languages(
    source: Book | None, mt: Book, *, source_language: str | None = None, target_language: str | None = None
) -> BookLanguages:
    """Determine the languages: those given, else those detected, else those declared by the files.

    Detection goes first because an MT often keeps the language tag of its source. Raises InputError where a file has no
    text, where source and MT are swapped or in the same language, and where a language can't be determined.
    """
    _refuse_empty(mt, "mt")
    if source:
        _refuse_empty(source, "source")
    ours = _detect(_texts(source) if source else _sources(mt))
    theirs = _detect(_texts(mt))
    books = (source or mt, mt)
    given = _code(source_language or "")
    mt_given = _code(target_language or "")
    _refuse_swapped(BookLanguages(given, mt_given), BookLanguages(ours, theirs), books)
    declared = (source.language if source else mt.source_language) or ""
    languages = BookLanguages(
        given or ours or _code(declared) or _unknown(books[0], "source"),
        mt_given or theirs or _code(mt.language or "") or _unknown(mt, "target"),
    )
    _refuse_one_language(languages, BookLanguages(ours, theirs), books)
    return replace(languages, notes=tuple(_notes(languages, BookLanguages(ours, theirs), books)))


def _refuse_empty(book: Book, field: str) -> None:
    if next(_texts(book), None) is None:
        what = "translation" if book.bilingual else "text"
        raise InputError(f"{book.path.name} has no {what}.", field=field)


def _refuse_swapped(given: BookLanguages, detected: BookLanguages, books: tuple[Book, Book]) -> None:
    if not detected.source or not detected.target or detected.source == detected.target:
        return
    if detected.source == given.target or detected.target == given.source:
        source, mt = (book.path.name for book in books)
        raise InputError(
            f"The files look swapped: the source {source} is in {language_name(detected.source)}, and the MT {mt} "
            f"is in {language_name(detected.target)}. Give the source first and the MT second.",
            field="source",
        )


def _refuse_one_language(languages: BookLanguages, detected: BookLanguages, books: tuple[Book, Book]) -> None:
    source, mt = (book.path.name for book in books)
    if languages.source == languages.target:
        raise InputError(
            f"Source and MT are both in {language_name(languages.source)}. Give a book and its translation, or set "
            "their languages.",
            field="target_language",
        )
    if detected.source and detected.source == detected.target:
        wrong_mt = detected.target != languages.target
        whose, expected = (mt, languages.target) if wrong_mt else (source, languages.source)
        raise InputError(
            f"{source} and {mt} are both in {language_name(detected.source)}, and {whose} should be in "
            f"{language_name(expected)}. Check the two files.",
            field="mt" if wrong_mt else "source",
        )


def _notes(languages: BookLanguages, detected: BookLanguages, books: tuple[Book, Book]) -> Iterator[str]:
    sides = ((detected.source, languages.source, books[0]), (detected.target, languages.target, books[1]))
    for found, used, book in sides:
        if found and found != used:
            yield (
                f"{book.path.name} should be in {language_name(used)} but looks like {language_name(found)}. Similar "
                "languages are easily confused; if these are not similar, check the file."
            )


def _unknown(book: Book, side: str) -> str:
    raise InputError(
        f"The language of {book.path.name} can't be detected. Set {side}_language.", field=f"{side}_language"
    )


def _code(language: str) -> str:
    """The normalised code; "" for tags that mean "undetermined" or "several"."""
    return "" if language.lower() in ("", "und", "zxx", "mul") else language_code(language)


def _detect(texts: Iterator[str]) -> str:
    """The language of most of a sample; "" where it is too short or too mixed."""
    votes: Counter[str] = Counter()
    piece = ""
    for text in _sample(texts):
        piece = f"{piece} {text}".strip()
        if len(piece) >= _PIECE:
            votes[detect_language(piece, default="")] += 1
            piece = ""
    if piece and not votes:
        votes[detect_language(piece, default="")] += 1
    language, count = votes.most_common(1)[0] if votes else ("", 0)
    return language if count >= _AGREED * votes.total() else ""


def _sample(texts: Iterator[str]) -> list[str]:
    """Sample texts evenly in one pass, with at most twice the sample in memory."""
    sample: list[str] = []
    every = 1
    for place, text in enumerate(islice(texts, _MAX_PARAGRAPHS)):
        if place % every == 0:
            sample.append(text[:_LETTERS])
        if len(sample) > 2 * _PARAGRAPHS:
            sample, every = sample[::2], every * 2
    return sample


def _texts(book: Book) -> Iterator[str]:
    return (text for paragraph in book.paragraphs() if (text := strip_marks(paragraph.text).strip()))


def _sources(book: Book) -> Iterator[str]:
    return (text for paragraph in book.paragraphs() if (text := strip_marks(paragraph.source or "").strip()))

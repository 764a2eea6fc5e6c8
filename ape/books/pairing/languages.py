"""Which languages a book and its MT are in, by a sample of their text, and whether the two were swapped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ape.books.book import Book
from ape.errors import InputError
from ape.text.inline_marks import strip_marks
from ape.text.languages import detect_language, language_code, language_name

# A sample: so many paragraphs spread evenly over the first few thousand, so many letters of each.
_PARAGRAPHS = 64
_LOOKED_AT = 4_000
_LETTERS = 400
# Paragraphs are put together until there is enough of a text to tell its language.
_PIECE = 300
# The share of a sample that has to agree before we believe it against what a user or a file says.
_AGREED = 0.7


@dataclass(frozen=True, slots=True)
class BookLanguages:
    """What a book is translated from and to, as ISO 639 codes. `notes` tell what seems odd about that."""

    source: str
    target: str
    notes: tuple[str, ...] = ()


def check_languages(
    source: Book | None, mt: Book, *, source_language: str | None = None, target_language: str | None = None
) -> BookLanguages:
    """The languages to use: what is stated, else what the text itself says, else what the file says.

    The text goes before the file, for an MT often keeps the language tag of the book it was made from. Raises
    InputError where one has no text, where source and MT are swapped, where both are in one language, and where it
    can't be told.
    """
    _refuse_empty(mt, "mt")
    if source:
        _refuse_empty(source, "source")
    ours = _heard(_texts(source) if source else _sources(mt))
    theirs = _heard(_texts(mt))
    books = (source or mt, mt)
    stated = _code(source_language or "")
    mt_stated = _code(target_language or "")
    _refuse_swapped(BookLanguages(stated, mt_stated), BookLanguages(ours, theirs), books)
    said_by_file = (source.language if source else mt.source_language) or ""
    languages = BookLanguages(
        stated or ours or _code(said_by_file) or _unknown(books[0], "source"),
        mt_stated or theirs or _code(mt.language or "") or _unknown(mt, "target"),
    )
    _refuse_one_language(languages, BookLanguages(ours, theirs), books)
    return replace(languages, notes=tuple(_notes(languages, BookLanguages(ours, theirs), books)))


def _refuse_empty(book: Book, field: str) -> None:
    if next(_texts(book), None) is None:
        what = "translation" if book.bilingual else "text"
        raise InputError(f"{book.path.name} has no {what} in it.", field=field)


def _refuse_swapped(stated: BookLanguages, heard: BookLanguages, books: tuple[Book, Book]) -> None:
    if not heard.source or not heard.target or heard.source == heard.target:
        return
    if heard.source == stated.target or heard.target == stated.source:
        source, mt = (book.path.name for book in books)
        raise InputError(
            f"They look swapped: {source} was given as the source and is in {language_name(heard.source)}, and {mt} "
            f"was given as the MT and is in {language_name(heard.target)}. Give the source first and the MT second.",
            field="source",
        )


def _refuse_one_language(languages: BookLanguages, heard: BookLanguages, books: tuple[Book, Book]) -> None:
    source, mt = (book.path.name for book in books)
    if languages.source == languages.target:
        raise InputError(
            f"Source and MT are both in {language_name(languages.source)}. Give a book and its translation, or say "
            "which languages they are in.",
            field="target_language",
        )
    if heard.source and heard.source == heard.target:
        wrong_mt = heard.target != languages.target
        whose, expected = (mt, languages.target) if wrong_mt else (source, languages.source)
        raise InputError(
            f"{source} and {mt} are both in {language_name(heard.source)}, and {whose} should be in "
            f"{language_name(expected)}. Check the two files.",
            field="mt" if wrong_mt else "source",
        )


def _notes(languages: BookLanguages, heard: BookLanguages, books: tuple[Book, Book]) -> Iterator[str]:
    sides = ((heard.source, languages.source, books[0]), (heard.target, languages.target, books[1]))
    for there, used, book in sides:
        if there and there != used:
            yield (
                f"{book.path.name} is said to be in {language_name(used)} but reads like {language_name(there)}. Near "
                "languages are hard to tell apart; if this one is not near, check the file."
            )


def _unknown(book: Book, side: str) -> str:
    raise InputError(
        f"The language of {book.path.name} can't be told from its text. Set {side}_language.",
        field=f"{side}_language",
    )


def _code(language: str) -> str:
    """As we write it; tags that say "undetermined" or "several" say nothing."""
    return "" if language.lower() in ("", "und", "zxx", "mul") else language_code(language)


def _heard(texts: Iterator[str]) -> str:
    """The language that most of a sample is in; nothing where it is too short or too mixed to tell."""
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
    """Some texts, spread evenly over as many as there are; one pass, and never more than twice of them held."""
    kept: list[str] = []
    every = 1
    for place, text in enumerate(islice(texts, _LOOKED_AT)):
        if place % every == 0:
            kept.append(text[:_LETTERS])
        if len(kept) > 2 * _PARAGRAPHS:
            kept, every = kept[::2], every * 2
    return kept


def _texts(book: Book) -> Iterator[str]:
    return (text for paragraph in book.paragraphs() if (text := strip_marks(paragraph.text).strip()))


def _sources(book: Book) -> Iterator[str]:
    return (text for paragraph in book.paragraphs() if (text := strip_marks(paragraph.source or "").strip()))

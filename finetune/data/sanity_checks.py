"""Sanity checks of the input: a whole side that is empty or in another language is a mistake."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ape.errors import InputError
from ape.text.languages import LANGUAGE_NAMES, classify_language, language_name, language_scripts, script_counts
from finetune.data.paragraph import TrainingParagraph

# Enough to be sure, and little enough to be quick.
_CHARACTERS = 6000
_FEWEST_LETTERS = 400
_MIN_CONFIDENCE = 0.95
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def refuse_lone_surrogates(paragraphs: Iterable[TrainingParagraph]) -> None:
    """Raise InputError for a lone surrogate, which JSON can express but no UTF-8 file can store."""
    for one in paragraphs:
        texts = (one.id, one.book, one.source, one.mt, *(text for human in one.humans for text in human))
        if found := next(filter(None, map(_LONE_SURROGATE.search, texts)), None):
            raise InputError(
                f"The paragraph {one.id!r} has half of a character in it (U+{ord(found.group()):04X}), which can't be "
                "written to a file. Take it out, or put the whole character there."
            )


def refuse_wrong_sides(paragraphs: Sequence[TrainingParagraph], *, check_languages: bool) -> None:
    """Raise InputError if a side of a book is empty or in the wrong language."""
    books: dict[tuple[str, str], list[TrainingParagraph]] = defaultdict(list)
    for one in paragraphs:
        books[one.book, one.pair].append(one)
    for (name, _), book in books.items():
        for side, expected, texts in _sides(book):
            _refuse_empty(name, side, texts)
            if check_languages:
                _refuse_wrong_language(name, side, expected, texts)


def _sides(book: Sequence[TrainingParagraph]) -> Iterator[tuple[str, str, list[str]]]:
    yield "source", book[0].source_language, [one.source for one in book]
    yield "MT", book[0].target_language, [one.mt for one in book]
    translators = dict.fromkeys(name for one in book for name, _ in one.humans)
    for translator in translators:
        texts = [text for one in book for name, text in one.humans if name == translator]
        yield f"human version ({translator})", book[0].target_language, texts


def _refuse_empty(book: str, side: str, texts: Sequence[str]) -> None:
    if not any(texts):
        raise InputError(f"The {side} of the book {book!r} is empty in all its {len(texts):,} paragraphs.")


def _refuse_wrong_language(book: str, side: str, expected: str, texts: Sequence[str]) -> None:
    text = _sample_text(texts)
    letters = script_counts(text)
    if letters.total() < _FEWEST_LETTERS:
        return
    own = sum(letters[script] for script in language_scripts(expected))
    found, probability = classify_language(text)
    if own < letters.total() / 2 or (
        found != expected and probability >= _MIN_CONFIDENCE and expected in LANGUAGE_NAMES
    ):
        raise InputError(
            f"The {side} of the book {book!r} reads as {language_name(found)}, and {language_name(expected)} was "
            'expected. Give the right files or languages, or turn the check "language" off.'
        )


def _sample_text(texts: Sequence[str]) -> str:
    """Sample from the whole book, since a preface may be in another language."""
    filled = [text for text in texts if text]
    step = max(1, len(filled) * 200 // _CHARACTERS)
    return "\n".join(text[:400] for text in filled[::step])[:_CHARACTERS]

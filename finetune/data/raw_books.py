"""Read raw books and align them by PAR3's method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ape.errors import InputError
from ape.text.languages import language_code
from finetune.data.paragraph import TrainingParagraph
from finetune.data.recipe import RawBook
from finetune.data.row_reader import DefaultLanguages

if TYPE_CHECKING:
    from finetune.data.alignment import AlignedParagraph, AlignmentProgress, SentenceEncoder


def read_raw_book(
    book: RawBook,
    *,
    languages: DefaultLanguages,
    paragraphs_as_book: int | None = None,
    encoder: SentenceEncoder | None = None,
    progress: AlignmentProgress | None = None,
) -> list[TrainingParagraph]:
    """Read its files and align them; the first paragraph is number 0.

    Languages that are not given are detected. A paragraph has the translators who translated it, which
    may be none. `paragraphs_as_book` divides it into books of that many paragraphs, as `read_training_rows` does.
    """
    from finetune.data.alignment import align_book
    from finetune.data.raw_text import read_raw_paragraphs

    source, mt = read_raw_paragraphs(book.source), read_raw_paragraphs(book.mt)
    texts = {name: read_raw_paragraphs(path) for name, path in book.humans.items()}
    source_language = _language("source", book.source_language or languages.source, source, book)
    target_language = _language("target", book.target_language or languages.target, mt, book)
    try:
        aligned = align_book(
            source,
            mt,
            texts,
            encoder=encoder,
            progress=lambda what, done, of: progress(f"{book.name}: {what}", done, of) if progress else None,
        )
    except InputError as error:
        raise InputError(f"The raw book {book.name!r} can't be aligned. {error}") from error
    return [
        TrainingParagraph(
            f"{book.name}:{one.index}",
            f"{book.name}#{one.index // paragraphs_as_book + 1}" if paragraphs_as_book else book.name,
            one.source.strip(),
            one.mt.strip(),
            _versions(one),
            source_language,
            target_language,
        )
        for one in aligned
    ]


def _language(side: str, given: str | None, text: Sequence[str], book: RawBook) -> str:
    """The given language, or the one detected."""
    from finetune.data.alignment import detect_book_language

    if found := language_code(given) if given else detect_book_language(text):
        return found
    raise InputError(
        f"The {side} language of the raw book {book.name!r} can't be detected in its text. Give it.",
        field=f"{side}_language",
    )


def _versions(aligned: AlignedParagraph) -> tuple[tuple[str, str], ...]:
    texts = ((name, text.strip()) for name, text in aligned.human.items())
    return tuple((name, text) for name, text in texts if text)


def summarise_alignment(
    paragraphs: Iterable[TrainingParagraph], books: Sequence[RawBook], *, encoder: SentenceEncoder
) -> dict[str, Any]:
    """For the manifest: the sentence encoder, and the paragraphs each translator left out."""
    counts: Counter[str] = Counter()
    versions: Counter[tuple[str, str]] = Counter()
    for one in paragraphs:
        book = one.id.rpartition(":")[0]
        counts[book] += 1
        versions.update((book, name) for name, _ in one.humans)
    return {
        "encoder": encoder.name,
        "books": {
            book.name: {
                "paragraphs": counts[book.name],
                "left_out": {name: counts[book.name] - versions[book.name, name] for name in book.humans},
            }
            for book in books
        },
    }


def alignment_remarks(alignment: Mapping[str, Any]) -> list[str]:
    """Notes on translators with omitted paragraphs."""
    return [
        f"{name} has nothing for {count:,} of the {counts['paragraphs']:,} paragraphs of {book}."
        for book, counts in alignment["books"].items()
        for name, count in counts["left_out"].items()
        if count
    ]

"""Raw books, aligned by PAR3's method: source paragraphs, the MT under them, and what each translator made of them."""

from __future__ import annotations

from ape.errors import InputError
from ape.languages import code_of
from finetune.data.paragraph import Paragraph
from finetune.data.recipe import RawBook
from finetune.data.rows import Languages


def read_raw_book(book: RawBook, *, languages: Languages) -> list[Paragraph]:
    """Read its files and align them; the first paragraph is number 0."""
    from finetune.data.align import align_book
    from finetune.data.raw import read_raw

    if not languages.source or not languages.target:
        raise InputError(
            f"The languages of the raw book {book.name!r} are not known. Give --source-language and --target-language."
        )
    aligned = align_book(
        read_raw(book.source), read_raw(book.mt), {name: read_raw(path) for name, path in book.humans.items()}
    )
    return [
        Paragraph(
            f"{book.name}:{place}",
            book.name,
            one.source.strip(),
            one.mt.strip(),
            tuple((name, text.strip()) for name, text in one.human.items()),
            code_of(languages.source),
            code_of(languages.target),
        )
        for place, one in enumerate(aligned)
    ]

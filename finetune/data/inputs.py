"""Input files of a build, with their hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ape.errors import InputError
from finetune.data.par3 import read_par3
from finetune.data.paragraph import TrainingParagraph
from finetune.data.raw_books import read_raw_book
from finetune.data.recipe import RawBook
from finetune.data.row_reader import DefaultLanguages, read_training_rows
from finetune.data.sanity_checks import refuse_lone_surrogates, refuse_wrong_sides

if TYPE_CHECKING:
    from finetune.data.alignment import AlignmentProgress, SentenceEncoder


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """Files by kind. `sides` are files that belong to one split, by its name."""

    par3: tuple[Path, ...] = ()
    rows: tuple[Path, ...] = ()
    sides: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    books: tuple[RawBook, ...] = ()
    languages: DefaultLanguages = field(default_factory=DefaultLanguages)

    @property
    def files(self) -> tuple[Path, ...]:
        """All files, each once."""
        raw = [path for book in self.books for path in (book.source, book.mt, *book.humans.values())]
        sides = [path for paths in self.sides.values() for path in paths]
        return tuple(dict.fromkeys((*self.par3, *self.rows, *sides, *raw)))


def read_inputs(
    inputs: BuildInputs,
    *,
    rows_as_book: int | None = None,
    check_languages: bool = True,
    encoder: SentenceEncoder | None = None,
    progress: AlignmentProgress | None = None,
) -> list[TrainingParagraph]:
    """Read the paragraphs of all files; `encoder` and `progress` are for raw books."""
    if not inputs.files:
        raise InputError(
            "There is nothing to build from: no PAR3 files, rows, files by split or raw books are given.", field="rows"
        )
    if any(inputs.sides.values()) and (inputs.par3 or inputs.rows or inputs.books):
        raise InputError(
            "Give either files by split (train, dev, test) or files to be split by book (PAR3, rows, raw books), "
            "not both.",
            field="train",
        )
    paragraphs = list(_read(inputs, rows_as_book, encoder, progress))
    refuse_duplicate_ids(paragraphs)
    refuse_lone_surrogates(paragraphs)
    refuse_wrong_sides(paragraphs, check_languages=check_languages)
    return paragraphs


def _read(
    inputs: BuildInputs, rows_as_book: int | None, encoder: SentenceEncoder | None, progress: AlignmentProgress | None
) -> Iterator[TrainingParagraph]:
    for path in inputs.par3:
        yield from read_par3(path, languages=inputs.languages)
    for book in inputs.books:
        yield from read_raw_book(
            book, languages=inputs.languages, paragraphs_as_book=rows_as_book, encoder=encoder, progress=progress
        )
    for path in inputs.rows:
        yield from read_training_rows(path, languages=inputs.languages, rows_as_book=rows_as_book)
    for side, paths in inputs.sides.items():
        for path in paths:
            yield from read_training_rows(path, languages=inputs.languages, split=side)


def refuse_duplicate_ids(paragraphs: Sequence[TrainingParagraph]) -> None:
    """Refuse two paragraphs with one id, which are nearly always the same paragraph twice."""
    seen: set[str] = set()
    for one in paragraphs:
        if one.id in seen:
            raise InputError(
                f"Two paragraphs have the id {one.id!r} (the second is in the book {one.book!r}). Ids must differ: "
                "without them each gets the name of its file and the number of its line."
            )
        seen.add(one.id)

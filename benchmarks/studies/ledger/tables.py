"""Tables of original and repaired outputs, for paired tests by `ape eval score`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.studies.ledger.books import StudyBook, repair_book


def write_table(path: Path, books: Sequence[StudyBook], references: Sequence[StudyBook]) -> None:
    """One line for each paragraph: the MT as it was and as the ledger of the book alone repairs it."""
    with path.open("w", encoding="utf-8") as file:
        for book, reference in zip(books, references, strict=True):
            repaired = repair_book(book, book.ledger())
            for (paragraph, repair), right in zip(repaired, reference.paragraphs, strict=True):
                row = {
                    "document": book.name,
                    "source": paragraph.source,
                    "reference": right.mt,
                    "systems": {"original": paragraph.mt, "repaired": repair.text},
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")

"""Consistency measured without the ledger of the system: the names, and where they occur, come from the reference.

A line counts for a name if its source has the name and the human translation renders it. The system's wording of the
name is the capitalised wording most specific to these lines. The score is the share of lines that have it or a word of
it: a lower bound, since a line with a pronoun instead, or with its sentence moved to another line, counts as a miss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ape.ledger.entity import Ledger
from ape.ledger.links import LedgerIndex
from ape.ledger.target_names import is_ordinary, mentions_of_run, name_runs
from ape.text.terms import has_wording
from benchmarks.studies.ledger.books import StudyBook, repair_book

MIN_LINES = 3


@dataclass(frozen=True, slots=True)
class ReferenceName:
    """A name of the reference with the numbers of the lines that have it."""

    form: str
    lines: tuple[int, ...]


def reference_names(book: StudyBook) -> list[ReferenceName]:
    """The names of a human translation that are in at least three lines of both sides."""
    ledger: Ledger = book.ledger()
    index = LedgerIndex(ledger)
    lines: dict[str, list[int]] = {}
    for number, paragraph in enumerate(book.paragraphs):
        for key in index.counts_in(paragraph.source):
            if any(has_wording(paragraph.mt, text, language="en") for text in index.wordings[key].right):
                lines.setdefault(key, []).append(number)
    return [
        ReferenceName(index.entities[key].source_forms[0].text, tuple(found))
        for key, found in lines.items()
        if len(found) >= MIN_LINES
    ]


def share_alike(names: Sequence[ReferenceName], texts: Sequence[str]) -> tuple[int, int]:
    """In how many lines of the names the text has the main wording of the name, and how many lines there are."""
    found = [[mention.text for run in name_runs(text) for mention in mentions_of_run(run, text)] for text in texts]
    everywhere = Counter(wording for line in found for wording in set(line))
    alike = 0
    for name in names:
        inside = Counter(wording for line in name.lines for wording in set(found[line]))
        main = max(inside, key=lambda text: (2 * inside[text] / (len(name.lines) + everywhere[text]), text), default="")
        words = [word for word in main.split() if not is_ordinary(word)]
        alike += sum(
            any(has_wording(texts[line], wording, language="en") for wording in (main, *words) if wording)
            for line in name.lines
        )
    return alike, sum(len(name.lines) for name in names)


def format_alike(names: Sequence[Sequence[ReferenceName]], books: Sequence[StudyBook]) -> str:
    """One line: the shares before and after repair, over all chapters."""
    totals = []
    for repaired in (False, True):
        counts = [
            share_alike(
                found, [repair.text if repaired else one.mt for one, repair in repair_book(book, book.ledger())]
            )
            for found, book in zip(names, books, strict=True)
        ]
        totals.append([sum(column) for column in zip(*counts, strict=True)])
    before, after = (100 * alike / max(1, lines) for alike, lines in totals)
    return f"{before:.1f} -> {after:.1f} % of {totals[0][1]} lines have the main wording"

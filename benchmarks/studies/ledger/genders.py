"""Dropped pronouns: of the segments whose gender differs from the reference's, how many are repaired or harmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from ape.passage.edit import EditKind
from benchmarks.studies.ledger.books import StudyBook, repair_book
from benchmarks.studies.ledger.cast import confirmed_cast
from eval.corpus.pronoun_marks import parse_dropped_pronouns, remove_pronoun_marks

_HE = regex.compile(r"(?i)\b(?:he|him|his|himself)\b")
_SHE = regex.compile(r"(?i)\b(?:she|her|hers|herself)\b")


@dataclass(frozen=True, slots=True)
class GenderResult:
    """Segments with a dropped 他 or 她, by what the ledger did; `elsewhere` are changes in other segments."""

    marked: int
    wrong: int
    repaired: int
    harmed: int
    changes: int
    elsewhere: int

    def format(self) -> str:
        """One line."""
        return (
            f"{self.marked} segments, {self.wrong} differ from the reference, {self.repaired} repaired, "
            f"{self.harmed} harmed; {self.changes} pronouns changed, {self.elsewhere} of them in other segments"
        )


def measure_genders(
    data: Path, books: Sequence[StudyBook], references: Sequence[StudyBook], *, confirmed: bool, show: bool = False
) -> GenderResult:
    """Compare the genders of a system with the reference, before and after repair.

    A segment counts if its reference has pronouns of one gender only. With `confirmed`, a person has confirmed the
    genders of the cast.
    """
    dropped = _dropped_lines(data)
    marked = wrong = repaired = harmed = changes = elsewhere = 0
    for chapter, (book, reference) in enumerate(zip(books, references, strict=True)):
        ledger = book.ledger(confirmed_cast(chapter) if confirmed else None)
        pairs = zip(repair_book(book, ledger), reference.paragraphs, strict=True)
        for (paragraph, repair), right in pairs:
            made = sum(edit.kind is EditKind.PRONOUN for edit in repair.edits)
            changes += made
            before, after = (_errors(text, right.mt) for text in (paragraph.mt, repair.text))
            harmed += after > before
            if show:
                for edit in repair.edits:
                    if edit.kind is EditKind.PRONOUN:
                        print(
                            f"    {book.name} {paragraph.id}: {edit.reason} ({before} -> {after} unlike the reference)"
                        )
            if _plain(paragraph.source) not in dropped or before < 0:
                elsewhere += made
                continue
            marked += 1
            wrong += before > 0
            repaired += before > after
    return GenderResult(marked, wrong, repaired, harmed, changes, elsewhere)


def _errors(text: str, reference: str) -> int:
    """The pronouns of a gender that the reference lacks; -1 if the reference has both genders or none."""
    he, she = len(_HE.findall(reference)), len(_SHE.findall(reference))
    if bool(he) == bool(she):
        return -1
    return len((_SHE if he else _HE).findall(text))


def _dropped_lines(data: Path) -> set[str]:
    return {
        _plain(remove_pronoun_marks(line))
        for split in ("test", "valid")
        for line in (data / "mzprt" / f"Web_Fiction_{split}.zh").read_text(encoding="utf-8").splitlines()
        if any(one.person in ("he", "she") for one in parse_dropped_pronouns(line))
    }


def _plain(text: str) -> str:
    return "".join(regex.findall(r"\p{Han}", text))

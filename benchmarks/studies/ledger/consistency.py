"""Consistency of linked names: of all pairs of mentions of one entity, the share with the same rendering (LTCR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import regex

from ape.ledger.entity import EntityKind, Ledger
from ape.ledger.links import LedgerIndex
from ape.passage.edit import EditKind
from benchmarks.studies.ledger.books import StudyBook, repair_book


@dataclass(frozen=True, slots=True)
class NameConsistency:
    """The renderings of one entity before and after repair; right ones are counted as one."""

    form: str
    kind: EntityKind
    target: str
    before: Counter[str]
    after: Counter[str]


@dataclass(frozen=True, slots=True)
class Substitution:
    """One repair with its paragraph."""

    book: str
    paragraph: str
    kind: EditKind
    before: str
    after: str
    reason: str
    source: str
    mt: str


def agreement(counts: Iterable[Counter[str]]) -> float:
    """The share of pairs of mentions that agree, in percent; 100 without pairs."""
    same = total = 0
    for one in counts:
        same += sum(n * (n - 1) for n in one.values())
        total += one.total() * (one.total() - 1)
    return 100 * same / total if total else 100.0


def measure_consistency(book: StudyBook) -> tuple[list[NameConsistency], list[Substitution]]:
    """The names of a book before and after repair, and every repair."""
    ledger = book.ledger()
    repaired = list(repair_book(book, ledger))
    before = _renderings(ledger, [(one.source, one.mt) for one, _ in repaired])
    after = _renderings(ledger, [(one.source, repair.text) for one, repair in repaired])
    names = [
        NameConsistency(one.source_forms[0].text, one.kind, one.target, before[one.id], after[one.id])
        for one in ledger.entities
    ]
    made = [
        Substitution(book.name, one.id, edit.kind, edit.before, edit.after, edit.reason, one.source, one.mt)
        for one, repair in repaired
        for edit in repair.edits
    ]
    return names, made


def _renderings(ledger: Ledger, pairs: Iterable[tuple[str, str]]) -> dict[str, Counter[str]]:
    index = LedgerIndex(ledger)
    found: dict[str, Counter[str]] = {key: Counter() for key in index.entities}
    for source, text in pairs:
        owners = {
            wording: (key, "" if wording in index.wordings[key].right else wording)
            for key in index.counts_in(source)
            for wording in (*index.wordings[key].doubtful, *index.wordings[key].wrong, *index.wordings[key].right)
        }
        if owners:
            choice = "|".join(map(regex.escape, sorted(owners, key=len, reverse=True)))
            for match in regex.finditer(rf"(?<!\w)(?:{choice})(?!\w)", text):
                key, rendering = owners[match.group()]
                found[key][rendering or index.entities[key].target] += 1
    return found

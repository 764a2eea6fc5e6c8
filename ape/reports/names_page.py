"""Write the page of a book's names: each entity with its variants in their sentences and the evidence of its gender."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ape.ledger.entity import Entity, Gender, GenderEvidence, Ledger, LedgerParagraph, Variant
from ape.ledger.links import LedgerIndex
from ape.ledger.sentences import WordingSentence, find_sentences
from ape.reports.base_page import Page
from ape.text.languages import language_name

_MAX_EVIDENCE = 8


@dataclass(frozen=True, slots=True)
class _VariantView:
    text: str
    count: int
    verdict: str
    sentences: tuple[WordingSentence, ...]


def write_names_page(path: Path, ledger: Ledger, paragraphs: Iterable[LedgerParagraph], *, title: str) -> None:
    """Write the page, replacing an existing file only once it is complete."""
    sentences = find_sentences(LedgerIndex(ledger), paragraphs)
    conflicts: dict[str, list[str]] = {}
    for one in ledger.conflicts:
        conflicts.setdefault(one.entity, []).append(f"{one.field}: {' or '.join(one.values)}; {one.reason}")
    _PAGE.write(
        path,
        "names.html",
        title=title,
        ledger=ledger,
        languages=f"{language_name(ledger.source_language)} to {language_name(ledger.target_language)}",
        variants={entity.id: _variants(entity, sentences) for entity in ledger.entities},
        evidence={entity.id: _evidence(entity) for entity in ledger.entities},
        conflicts=conflicts,
        open_questions=sum(map(len, conflicts.values())),
        repairable=sum(bool(_wrong(entity)) for entity in ledger.entities),
    )


def _wrong(entity: Entity) -> list[Variant]:
    right = {entity.target, *entity.short_forms}
    return [one for one in entity.variants if one.text not in right and one.firm and entity.target]


def _variants(entity: Entity, sentences: dict[tuple[str, str], list[WordingSentence]]) -> list[_VariantView]:
    right = {entity.target, *entity.short_forms}
    return [
        _VariantView(one.text, one.count, _verdict(one, right, entity), tuple(sentences.get((entity.id, one.text), ())))
        for one in entity.variants
    ]


def _verdict(variant: Variant, right: set[str], entity: Entity) -> str:
    if variant.text in right:
        return "right"
    return "wrong" if variant.firm and entity.target else "doubtful"


def _evidence(entity: Entity) -> list[GenderEvidence]:
    return sorted(entity.evidence, key=lambda one: -abs(one.weight))[:_MAX_EVIDENCE]


_PAGE = Page("ape.reports", styles=["names.css"], names={"unknown": Gender.UNKNOWN})

"""Human annotation of references: names, and wordings of ambiguous or omitted words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from eval.linguistics.annotators import Annotation, NamedEntity
from eval.metrics.blonde.categories import BLONDE_PLUS_CATEGORIES, category_columns
from eval.metrics.blonde.counts import BlondeCounts

AnnotatedWordings: TypeAlias = Mapping[tuple[str, int], Sequence[str]]
"""By document and segment index: the reference's wordings of ambiguous or omitted words."""


@dataclass(frozen=True, slots=True)
class AnnotatedName:
    """An annotated name, and whether it is a person's."""

    text: str
    person: bool = True

    @property
    def label(self) -> str:
        """An entity label of its class."""
        return "PERSON" if self.person else "ORG"


AnnotatedNames: TypeAlias = Mapping[tuple[str, int], Sequence[AnnotatedName]]


def count_wordings(
    counts: BlondeCounts, row: int, key: str, wordings: Sequence[str], output: str, references: Sequence[str]
) -> None:
    """Add the number of annotated wordings that a line has."""
    column = category_columns("plus").start + BLONDE_PLUS_CATEGORIES.index(key)
    for wording in dict.fromkeys(map(str.lower, wordings)):
        here = len(find_wording(wording, output))
        there = max((len(find_wording(wording, text)) for text in references), default=0)
        counts.match[row, column] += min(here, there)
        counts.reference[row, column] += there
        counts.output[row, column] += here


def find_wording(wording: str, text: str) -> list[tuple[int, int]]:
    """Where a wording occurs as whole words, ignoring case and white space."""
    words = r"\s+".join(map(re.escape, wording.split()))
    if not words:
        return []
    found = re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)
    return [match.span() for match in found]


def add_names(
    names: AnnotatedNames,
    where: Sequence[tuple[str, int]],
    texts: Sequence[Sequence[str | None]],
    output: Sequence[Annotation],
    references: Sequence[Sequence[Annotation]],
) -> tuple[list[Annotation], list[list[Annotation]]]:
    """Replace recognised names by annotated ones, in documents that have any.

    A reference has the names annotated for its line. In the output, names annotated anywhere in the document are found
    by their words; names recognised elsewhere in the line stay, as they may be wrong names.
    """
    names_by_document: dict[str, dict[AnnotatedName, None]] = {}
    for (document, _), given in names.items():
        names_by_document.setdefault(document, {}).update(dict.fromkeys(given))
    output_texts, *others = texts
    renamed = []
    for (document, _), text, one in zip(where, output_texts, output, strict=True):
        known = names_by_document.get(document)
        renamed.append(one if known is None or text is None else _with_names(one, text, list(known), keep=True))
    refined = []
    for side, found in zip(others, references, strict=True):
        refined.append(
            [
                one
                if place[0] not in names_by_document or text is None
                else _with_names(one, text, names.get(place, ()))
                for place, text, one in zip(where, side, found, strict=True)
            ]
        )
    return renamed, refined


def _with_names(one: Annotation, text: str, names: Sequence[AnnotatedName], *, keep: bool = False) -> Annotation:
    found: list[NamedEntity] = []
    # The longest first, so that "Wang" is not found in "Wang Wenhao".
    for name in sorted(names, key=lambda name: -len(name.text)):
        found += [
            NamedEntity(name.text, start, end, name.label)
            for start, end in find_wording(name.text, text)
            if not any(start < other.end and other.start < end for other in found)
        ]
    if keep:
        found += [
            entity
            for entity in one.entities
            if not any(entity.start < other.end and other.start < entity.end for other in found)
        ]
    return replace(one, entities=tuple(sorted(found, key=lambda entity: entity.start)))

"""Entities of the reference that the output has in the same wording, and entities that it adds.

The reference's entities come from its annotation, or else from an annotator. An entity is found where the output's
segment has its wording, as often as the reference. Added entities are those that an annotator finds in the output
outside such wordings, and surplus wordings. Terminology recall is the share found of the entities marked T.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.linguistics.annotators.protocol import Annotation
from eval.linguistics.bwb.markup import BwbMarkup
from eval.linguistics.bwb.tags import ENTITY_TYPES
from eval.linguistics.wordings import find_wording_spans, outermost_spans
from eval.metrics.annotator import annotator_or_unmeasured
from eval.metrics.counts_cache import count_once
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import Fold, MetricCounts, Unmeasured, mean_fold, share_fold

ENTITY_KINDS = (*ENTITY_TYPES, "other")
_FROM_ONTONOTES = {"PERSON": "PER", **{label: label for label in ENTITY_TYPES}}


@dataclass(frozen=True, slots=True)
class EntityWording:
    """An entity in a text; whether it is terminology is known only for annotated ones."""

    text: str
    type: str
    terminology: bool | None = None


EntityCounts: TypeAlias = Counter[EntityWording]


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """F1 of all entities; parts by type, for persons and others, and recall of terms and common phrases."""

    markup: Mapping[str, BwbMarkup] = field(default_factory=dict)
    """Annotation of the first reference by document, one line for each segment."""
    annotator: Annotator | None = None
    name: str = "entities"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each segment with a reference, by type: found, in the output, in the reference; then terms."""
        annotator = annotator_or_unmeasured(corpus.target_language, self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = [number for number, document, segment in corpus.segments() if document.references_of(segment)]
        if not documents:
            return Unmeasured("there is no reference")
        source = "annotation" if self.markup else "annotator"
        signature = metric_signature(self.name, case="first", reference=source, annotator=annotator.name)
        if self.markup:
            rows = self._rows(corpus, system, annotator)
        else:
            rows = count_once(corpus, system, signature, lambda: self._rows(corpus, system, annotator))
        columns = 3 * len(ENTITY_KINDS) + 4
        return MetricCounts(
            np.asarray(rows, dtype=float).reshape(-1, columns),
            np.asarray(documents, dtype=np.intp),
            _f1(ENTITY_KINDS),
            signature,
            parts=_parts(),
        )

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Entities of the reference that the output lacks or has too few of."""
        annotator = annotator_or_unmeasured(corpus.target_language, self.annotator)
        if isinstance(annotator, Unmeasured):
            return
        for document in corpus.documents:
            expected = self._expected_entities(document, system, annotator)
            for segment, entities in enumerate(expected):
                output = document.outputs[system][segment]
                reference = next(iter(document.references_of(segment)), "")
                for wording in entities:
                    there = find_wording_spans(wording.text, reference)
                    for start, end in there[len(find_wording_spans(wording.text, output)) :]:
                        yield Mark(document.id, segment, "reference", start, end, "lost", wording.type)

    def _rows(self, corpus: Corpus, system: str, annotator: Annotator) -> list[list[float]]:
        rows = []
        for document in corpus.documents:
            seen = annotator.annotate(document.outputs[system])
            expected = self._expected_entities(document, system, annotator)
            texts = zip(document.outputs[system], seen, expected, strict=True)
            for segment, (text, annotation, entities) in enumerate(texts):
                if references := document.references_of(segment):
                    rows.append(_row(text, annotation, entities, references))
        return rows

    def _expected_entities(self, document: Document, system: str, annotator: Annotator) -> list[EntityCounts]:
        segments = len(document.outputs[system])
        if self.markup:
            return _annotated(document.id, segments, self.markup)
        expected: list[EntityCounts] = [Counter() for _ in range(segments)]
        for texts in document.references:
            # Several references: the largest count of each wording.
            seen = annotator.annotate([text or "" for text in texts])
            expected = [one | _entities(annotation) for one, annotation in zip(expected, seen, strict=True)]
        return expected


def _annotated(name: str, segments: int, marked: Mapping[str, BwbMarkup]) -> list[EntityCounts]:
    if name not in marked:
        raise InputError(f"The document {name!r} has no annotation.")
    given = marked[name]
    if len(given.lines) != segments:
        raise InputError(f"The document {name!r} has {segments} segments, and its annotation {len(given.lines)} lines.")
    expected: list[EntityCounts] = [Counter() for _ in given.lines]
    for span in given.spans:
        if span.kind == "entity":
            expected[span.line][EntityWording(given.text_of(span), span.type, span.terminology)] += 1
    return expected


def _entities(annotation: Annotation) -> EntityCounts:
    return Counter(EntityWording(one.text, _FROM_ONTONOTES.get(one.label, "other")) for one in annotation.entities)


def _row(text: str, annotation: Annotation, expected: EntityCounts, references: Sequence[str]) -> list[float]:
    """The columns of one segment."""
    matches, ours, theirs = (dict.fromkeys(ENTITY_KINDS, 0) for _ in range(3))
    terms = {(flag, what): 0 for flag in (True, False) for what in ("found", "expected")}
    places = {wording: find_wording_spans(wording.text, text) for wording in expected}
    outer = set(outermost_spans(place for found in places.values() for place in found))
    for wording, number in expected.items():
        found = min(number, len(places[wording]))
        matches[wording.type] += found
        theirs[wording.type] += number
        too_often = max(0, sum(place in outer for place in places[wording]) - number)
        ours[wording.type] += found + too_often
        if wording.terminology is not None:
            terms[wording.terminology, "found"] += found
            terms[wording.terminology, "expected"] += number
    for entity in annotation.entities:
        known = any(start < entity.end and entity.start < end for start, end in outer)
        # An entity in a reference's words is not added, even if it is not marked there.
        if not known and not any(find_wording_spans(entity.text, reference) for reference in references):
            ours[_FROM_ONTONOTES.get(entity.label, "other")] += 1
    triples = [side[kind] for kind in ENTITY_KINDS for side in (matches, ours, theirs)]
    return [*triples, *terms.values()]


# --- folding -----------------------------------------------------------------------------------------------------


def _columns(kinds: Sequence[str], which: int) -> list[int]:
    return [3 * ENTITY_KINDS.index(kind) + which for kind in kinds]


def _share(kinds: Sequence[str], which: int) -> Fold:
    return share_fold(_columns(kinds, 0), _columns(kinds, which))


def _f1(kinds: Sequence[str]) -> Fold:
    return share_fold(_columns(kinds, 0), [*_columns(kinds, 1), *_columns(kinds, 2)], scale=2)


def _parts() -> dict[str, Fold]:
    groups = {
        "all": ENTITY_KINDS,
        "not PER": tuple(kind for kind in ENTITY_KINDS if kind != "PER"),
        **{kind: (kind,) for kind in ENTITY_KINDS},
    }
    parts: dict[str, Fold] = {}
    for name, kinds in groups.items():
        parts |= {f"{name} precision": _share(kinds, 1), f"{name} recall": _share(kinds, 2), f"{name} F1": _f1(kinds)}
    first = 3 * len(ENTITY_KINDS)
    return parts | {"terminology": mean_fold(first, first + 1), "common phrases": mean_fold(first + 2, first + 3)}

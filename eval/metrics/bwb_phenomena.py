"""Five discourse phenomena by F1 and by exact match, as in Table 7 of the BWB paper.

F1 counts by class: verb tags, pronoun genders, names, and the annotated wordings for ambiguity and ellipsis. Exact
match is stricter (Alam et al. 2021): the share of the reference's items (for pronouns, the words) that the output has.
Both take the smaller count of the two sides as matches; of several references, the largest counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.linguistics.annotators.protocol import Annotation
from eval.linguistics.bwb.error_lines import BwbErrorLine
from eval.linguistics.bwb.names import BwbNames
from eval.linguistics.pronoun_gender import gender_of
from eval.linguistics.wordings import find_wording_spans
from eval.metrics.annotator import annotator_or_unmeasured
from eval.metrics.metric import metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured, mean_fold, ratio

_Line = TypeVar("_Line")
PHENOMENA = ("ambiguity", "entity", "tense", "pronoun", "ellipsis")
LANGUAGES = ("en",)
_TENSES = frozenset("VBD VBN VBP VBZ VBG VB MD".split())
_COLUMNS = 5
"""For each phenomenon: matches, output count, reference count, exact matches, exact matches possible."""


@dataclass(frozen=True, slots=True)
class BwbPhenomena:
    """The mean F1 of the phenomena that occur, with F1 and exact match of each as parts."""

    errors: Mapping[str, Sequence[BwbErrorLine]] = field(default_factory=dict)
    """Error lines by document, with the correct wordings for ambiguity and ellipsis."""
    names: Mapping[str, Sequence[BwbNames]] = field(default_factory=dict)
    """Names in the reference by document, added to those that the annotator finds."""
    annotator: Annotator | None = None
    name: str = "phenomena"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Five counts of each phenomenon for every segment with a reference."""
        if corpus.target_language not in LANGUAGES:
            return Unmeasured(f"it is defined for {', '.join(LANGUAGES)} and not for {corpus.target_language}")
        annotator = annotator_or_unmeasured(corpus.target_language, self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        rows, documents = [], []
        for number, document in enumerate(corpus.documents):
            for row in self._rows(document, system, annotator):
                rows.append(row)
                documents.append(number)
        if not rows:
            return Unmeasured("there is no reference")
        signature = metric_signature(
            self.name,
            case="first",
            errors="annotation" if self.errors else "none",
            names="annotation" if self.names else "annotator",
            annotator=annotator.name,
        )
        return MetricCounts(
            np.asarray(rows, dtype=float).reshape(-1, _COLUMNS * len(PHENOMENA)),
            np.asarray(documents, dtype=np.intp),
            _mean,
            signature,
            parts={
                name: fold
                for place, phenomenon in enumerate(PHENOMENA)
                for name, fold in (
                    (f"{phenomenon} F1", _f1(place * _COLUMNS)),
                    (f"{phenomenon} exact", mean_fold(place * _COLUMNS + 3, place * _COLUMNS + 4)),
                )
            },
        )

    def _rows(self, document: Document, system: str, annotator: Annotator) -> Iterator[list[int]]:
        outputs = document.outputs[system]
        seen = annotator.annotate(outputs)
        references = [annotator.annotate([text or "" for text in texts]) for texts in document.references]
        errors = _document_lines(self.errors, document.id, len(outputs), "error lines")
        names = _document_lines(self.names, document.id, len(outputs), "lines of names")
        for segment, annotation in enumerate(seen):
            given = document.references_of(segment)
            if not given:
                continue
            theirs = [reference[segment] for reference in references]
            wordings = _corrections(errors[segment]) if errors else {}
            named = names[segment] if names else None
            row = []
            for phenomenon in PHENOMENA:
                if phenomenon in ("ambiguity", "ellipsis"):
                    row += _wordings(wordings.get(phenomenon, ()), outputs[segment], given)
                elif phenomenon == "entity":
                    row += _entities(annotation, theirs, outputs[segment], named)
                else:
                    row += _classes(phenomenon, annotation, theirs)
            yield row


def _document_lines(given: Mapping[str, Sequence[_Line]], name: str, segments: int, what: str) -> Sequence[_Line]:
    lines = given.get(name, ())
    if given and len(lines) != segments:
        raise InputError(f"The document {name!r} has {segments} segments and {len(lines)} {what}.")
    return lines


def _corrections(line: BwbErrorLine) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for error in line.errors:
        if error.correction:
            found.setdefault(error.kind, []).append(error.correction)
    return found


def _counts(ours: Counter[str], theirs: Counter[str]) -> list[int]:
    return [(ours & theirs).total(), ours.total(), theirs.total()]


def _wordings(wordings: Sequence[str], output: str, references: Sequence[str]) -> list[int]:
    """Counts of the annotated wordings; those that no reference has are ignored."""
    ours = Counter({wording: len(find_wording_spans(wording, output)) for wording in wordings})
    theirs = Counter(
        {
            wording: max((len(find_wording_spans(wording, text)) for text in references), default=0)
            for wording in wordings
        }
    )
    present = Counter({wording: ours[wording] for wording, number in theirs.items() if number})
    matches, _, possible = counts = _counts(present, theirs)
    return [*counts, matches, possible]


def _entities(
    annotation: Annotation, references: Sequence[Annotation], output: str, named: BwbNames | None
) -> list[int]:
    """The reference's names are those annotated and those that the annotator finds."""
    theirs = Counter[str]()
    for reference in references:
        theirs |= Counter(entity.text for entity in reference.entities)
    if named is not None:
        theirs |= Counter(
            {_bare(name): times for names in (named.persons, named.others) for name, times in names.items()}
        )
    ours = Counter(entity.text for entity in annotation.entities)
    ours |= Counter({name: len(find_wording_spans(name, output)) for name in theirs if name not in ours})
    matches, _, possible = counts = _counts(ours, theirs)
    return [*counts, matches, possible]


def _bare(name: str) -> str:
    return name.removesuffix("’s").removesuffix("'s")


def _classes(phenomenon: str, annotation: Annotation, references: Sequence[Annotation]) -> list[int]:
    theirs, exactly = Counter[str](), Counter[str]()
    for reference in references:
        theirs |= _items(phenomenon, reference, exact=False)
        exactly |= _items(phenomenon, reference, exact=True)
    counts = _counts(_items(phenomenon, annotation, exact=False), theirs)
    exact = _items(phenomenon, annotation, exact=True) & exactly
    return [*counts, exact.total(), exactly.total()]


def _items(phenomenon: str, annotation: Annotation, *, exact: bool) -> Counter[str]:
    if phenomenon == "tense":
        return Counter(token.tag for token in annotation.tokens if token.tag in _TENSES)
    words = (token.text.lower() for token in annotation.tokens)
    return Counter(word if exact else gender_of(word) for word in words if gender_of(word) != "other")


# --- folding -----------------------------------------------------------------------------------------------------


def _f1(first: int) -> Fold:
    return lambda sums: ratio(2 * sums[..., first], sums[..., first + 1] + sums[..., first + 2])


def _mean(sums: FloatArray) -> FloatArray:
    """The mean over phenomena that the reference has."""
    values = np.stack([_f1(place * _COLUMNS)(sums) for place in range(len(PHENOMENA))], axis=-1)
    occurs = np.stack([sums[..., place * _COLUMNS + 2] > 0 for place in range(len(PHENOMENA))], axis=-1)
    return ratio(np.where(occurs, np.nan_to_num(values), 0.0).sum(axis=-1), occurs.sum(axis=-1))

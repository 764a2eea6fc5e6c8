"""Connectives: of those that the reference has in discourse use, the share that the output has.

Acc counts the same connective, ANY counts any connective. The rules of discourse use apply to the reference only; in
the output every word that can be a connective counts. In a segment with several, each of the output matches one of the
reference; with one, this is the paper's definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.metrics.dip.annotated_sides import (
    AnnotatedSides,
    annotate_sides,
    class_share_fold,
    dip_annotator_or_unmeasured,
    row_documents,
)
from eval.metrics.dip.clauses import ClauseWords, clause_words
from eval.metrics.dip.connective_rules import CONNECTIVE_CLASSES, CONNECTIVES
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured

LANGUAGES = ("en",)
_COLUMNS = 3
# Too frequent as prepositions: as candidates they would give nearly every output "any connective".
_NEVER_CANDIDATES = frozenset({"by", "for", "without"})


@dataclass(frozen=True, slots=True)
class ConnectiveUse:
    """A connective in a text: its name, its class and its characters."""

    name: str
    kind: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ConnectiveMatch:
    """A connective of the reference and its match in the output, if any."""

    reference_use: ConnectiveUse
    output_use: ConnectiveUse | None

    @property
    def is_same(self) -> bool:
        """Whether it is the same connective."""
        return self.output_use is not None and self.output_use.name == self.reference_use.name


def find_connectives(annotation: Annotation) -> list[ConnectiveUse]:
    """The connectives in discourse use, in order."""
    text = clause_words(annotation)
    return [_use(annotation, at, end) for at, end in _spans(text) if _fits(text, at, end)]


def find_connective_candidates(annotation: Annotation) -> list[ConnectiveUse]:
    """All words that can be connectives, in order, in any use."""
    text = clause_words(annotation)
    return [
        _use(annotation, at, end)
        for at, end in _spans(text)
        if " ".join(text.words[at:end]) not in _NEVER_CANDIDATES or _fits(text, at, end)
    ]


def match_connectives(references: Sequence[ConnectiveUse], outputs: Sequence[ConnectiveUse]) -> list[ConnectiveMatch]:
    """Match equal connectives first, in order, then pair the remaining ones in order."""
    left = list(outputs)
    found: dict[int, ConnectiveUse] = {}
    for index, use in enumerate(references):
        if (same := next((one for one in left if one.name == use.name), None)) is not None:
            left.remove(same)
            found[index] = same
    others = iter(left)
    return [
        ConnectiveMatch(use, found[index] if index in found else next(others, None))
        for index, use in enumerate(references)
    ]


@dataclass(frozen=True, slots=True)
class ConnectiveTally:
    """For one connective: its number in the reference, and how often the output has the same, another or none."""

    asked: int
    same: int
    other: int
    lost: int


@dataclass(frozen=True, slots=True)
class DipConnectives:
    """Acc, with ANY and the accuracy of each class as parts."""

    annotator: Annotator | None = None
    name: str = "dip-connectives"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each class three columns: in the reference, matched by the same, matched by any."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = row_documents(corpus)
        rows = np.zeros((len(documents), len(CONNECTIVE_CLASSES) * _COLUMNS))
        for side, segment, match in match_system_connectives(corpus, system, annotator):
            column = match.reference_use.kind * _COLUMNS
            row = rows[side.first_row + segment]
            row[column : column + _COLUMNS] += (1, match.is_same, match.output_use is not None)
        parts = {"acc": _share(1), "any": _share(2), "lost": _lost}
        parts |= {f"acc of {label}": _share(1, kind) for kind, label in enumerate(CONNECTIVE_CLASSES)}
        signature = metric_signature(self.name, list=len(CONNECTIVES), refs="each", annotator=annotator.name)
        return MetricCounts(rows, documents, _share(1), signature, parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Connectives of the reference that are lost, and replaced ones on both sides."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return
        for side, segment, match in match_system_connectives(corpus, system, annotator):
            reference, output = match.reference_use, match.output_use
            if output is None:
                yield Mark(side.id, segment, "reference", reference.start, reference.end, "lost", reference.name)
            elif not match.is_same:
                note = f"{reference.name} → {output.name}"
                yield Mark(side.id, segment, "reference", reference.start, reference.end, "changed", note)
                yield Mark(side.id, segment, "output", output.start, output.end, "changed", note)

    def tally(self, corpus: Corpus, system: str) -> Mapping[str, ConnectiveTally]:
        """Outcomes by connective of the references, most frequent first."""
        counts: Counter[tuple[str, str]] = Counter()
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return {}
        for _, _, match in match_system_connectives(corpus, system, annotator):
            outcome = "same" if match.is_same else "other" if match.output_use else "lost"
            counts[match.reference_use.name, outcome] += 1
        names = {name: sum(counts[name, outcome] for outcome in ("same", "other", "lost")) for name, _ in counts}
        return {
            name: ConnectiveTally(asked, counts[name, "same"], counts[name, "other"], counts[name, "lost"])
            for name, asked in sorted(names.items(), key=lambda item: (-item[1], item[0]))
        }

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        return dip_annotator_or_unmeasured(corpus, LANGUAGES, what="The connectives metric", annotator=self.annotator)


def match_system_connectives(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, int, ConnectiveMatch]]:
    """Every connective of every reference with its match."""
    for side in annotate_sides(corpus, system, annotator):
        for segment, reference, output in side.paired_annotations():
            if uses := find_connectives(reference):
                for match in match_connectives(uses, find_connective_candidates(output)):
                    yield side, segment, match


def _fits(text: ClauseWords, at: int, end: int) -> bool:
    return CONNECTIVES[" ".join(text.words[at:end])][1](text, at, end)


def _use(annotation: Annotation, at: int, end: int) -> ConnectiveUse:
    first, last = annotation.tokens[at], annotation.tokens[end - 1]
    name = " ".join(token.text.lower() for token in annotation.tokens[at:end])
    return ConnectiveUse(name, CONNECTIVES[name][0], first.start, last.end)


def _by_first_word() -> Mapping[str, list[tuple[str, ...]]]:
    """The connectives that begin with each word, longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted((tuple(name.split()) for name in CONNECTIVES), key=len, reverse=True):
        found.setdefault(words[0], []).append(words)
    return found


_BY_FIRST = _by_first_word()


def _spans(text: ClauseWords) -> Iterator[tuple[int, int]]:
    """The longest connective at each position, left to right."""
    at = 0
    while at < len(text.words):
        here = (words for words in _BY_FIRST.get(text.words[at], ()) if text.words[at : at + len(words)] == words)
        length = len(next(here, ()))
        if length:
            yield at, at + length
        at += length or 1


def _share(column: int, kind: int | None = None) -> Fold:
    """Per cent of the reference's connectives, of one class or of all, that a column counts."""
    classes = range(len(CONNECTIVE_CLASSES)) if kind is None else (kind,)
    return class_share_fold(classes, _COLUMNS, [column], [0])


def _lost(sums: FloatArray) -> FloatArray:
    return 100 - _share(2)(sums)

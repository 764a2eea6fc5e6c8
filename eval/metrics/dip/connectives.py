"""Connectives: of those that the reference has in discourse use, the share that the output has.

Acc counts the same connective, ANY counts any connective of a compatible sense: yet for but, not if for however. (The
paper's ANY takes any connective.) The rules of discourse use apply to the reference only; in the output every word that
can be a connective counts. In a segment with several, each of the output matches one of the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ape.text.languages import language_code
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation, Annotator
from eval.metrics.counts_cache import count_once
from eval.metrics.dip.annotated_sides import AnnotatedSides, DipMetric, annotate_sides, class_share_fold
from eval.metrics.dip.clauses import ClauseWords, clause_words
from eval.metrics.dip.connective_rules import CONNECTIVE_CLASSES, CONNECTIVES
from eval.metrics.dip.connective_senses import CONNECTIVE_SENSES
from eval.metrics.metric import Mark
from eval.statistics.counts import FloatArray, Fold, Unmeasured

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
    is_error: bool = False
    """Whether it is surely left out; of other lost ones nothing is known."""

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
    """Match equal connectives first, in order, then each remaining one with the first of a compatible sense."""
    left = list(outputs)
    found: dict[int, ConnectiveUse] = {}
    for index, use in enumerate(references):
        if (same := next((one for one in left if one.name == use.name), None)) is not None:
            left.remove(same)
            found[index] = same
    for index, use in enumerate(references):
        compatible = (one for one in left if CONNECTIVE_SENSES[one.name] & CONNECTIVE_SENSES[use.name])
        if index not in found and (other := next(compatible, None)) is not None:
            left.remove(other)
            found[index] = other
    return [ConnectiveMatch(use, found.get(index)) for index, use in enumerate(references)]


@dataclass(frozen=True, slots=True)
class ConnectiveTally:
    """For one connective: its number in the reference, and how often the output has the same, another or none."""

    in_reference: int
    same: int
    other: int
    lost: int
    errors: int
    """Of the lost ones, those that are surely left out."""


@dataclass(frozen=True, slots=True)
class DipConnectives(DipMetric):
    """Acc, with ANY and the accuracy of each class as parts."""

    name: str = "dip-connectives"
    subject: ClassVar[str] = "The connectives metric"
    columns: ClassVar[int] = len(CONNECTIVE_CLASSES) * _COLUMNS
    settings: ClassVar[dict[str, Any]] = {"list": len(CONNECTIVES), "any": "compatible"}

    def _add_counts(self, rows: FloatArray, corpus: Corpus, system: str, annotator: Annotator) -> None:
        """For each class three columns: in the reference, matched by the same, matched by any."""
        for side, segment, match in match_system_connectives(corpus, system, annotator):
            column = match.reference_use.kind * _COLUMNS
            row = rows[side.first_row + segment]
            row[column : column + _COLUMNS] += (1, match.is_same, match.output_use is not None)

    def _folds(self) -> tuple[Fold, dict[str, Fold]]:
        parts = {"acc": _share(1), "any": _share(2), "lost": _lost}
        parts |= {f"acc of {label}": _share(1, kind) for kind, label in enumerate(CONNECTIVE_CLASSES)}
        return _share(1), parts

    def _marks(self, corpus: Corpus, system: str, annotator: Annotator) -> Iterator[Mark]:
        """Connectives of the reference that are lost, called wrong if surely so, and replaced ones on both sides."""
        for side, segment, match in match_system_connectives(corpus, system, annotator):
            reference, output = match.reference_use, match.output_use
            if output is None:
                kind = "wrong" if match.is_error else "lost"
                yield Mark(side.id, segment, "reference", reference.start, reference.end, kind, reference.name)
            elif not match.is_same:
                note = f"{reference.name} → {output.name}"
                yield Mark(side.id, segment, "reference", reference.start, reference.end, "changed", note)
                yield Mark(side.id, segment, "output", output.start, output.end, "changed", note)

    def tally(self, corpus: Corpus, system: str) -> Mapping[str, ConnectiveTally]:
        """Outcomes by connective of the references, most frequent first."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return {}
        recipe = f"tally|{self._signature(annotator)}"
        found = count_once(corpus, system, recipe, lambda: _tally(corpus, system, annotator))
        return {name: ConnectiveTally(*numbers) for name, numbers in found.items()}


def _tally(corpus: Corpus, system: str, annotator: Annotator) -> dict[str, list[int]]:
    """The fields of the tally of each connective."""
    counts: Counter[tuple[str, str]] = Counter()
    for _, _, match in match_system_connectives(corpus, system, annotator):
        outcome = "same" if match.is_same else "other" if match.output_use else "lost"
        counts[match.reference_use.name, outcome] += 1
        counts[match.reference_use.name, "error"] += match.is_error
    names = {name: sum(counts[name, outcome] for outcome in ("same", "other", "lost")) for name, _ in counts}
    return {
        name: [total, *(counts[name, outcome] for outcome in ("same", "other", "lost", "error"))]
        for name, total in sorted(names.items(), key=lambda item: (-item[1], item[0]))
    }


def match_system_connectives(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, int, ConnectiveMatch]]:
    """Every connective of every reference with its match, judged where the source is Chinese."""
    is_chinese = language_code(corpus.source_language) == "zh"
    for side in annotate_sides(corpus, system, annotator):
        for segment, reference, output in side.paired_annotations():
            context = side.connective_context(segment, reference) if is_chinese else None
            for match in match_connectives(find_connectives(reference), find_connective_candidates(output)):
                if context is not None and match.output_use is None:
                    error = context.is_surely_omitted(match.reference_use.name)
                    yield side, segment, replace(match, is_error=error)
                else:
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

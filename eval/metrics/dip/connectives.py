"""Connectives: of those that the reference has in discourse use, how many does the output have?

Acc counts the same connective, ANY counts any. The rules of discourse use are for the reference only: what a system
wrote has the benefit of the doubt, and every word that can be a connective counts. In a segment with several, each of
the output answers for one of the reference; where there is one, this is the paper's definition.
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
    dip_annotator_or_unmeasured,
    row_documents,
)
from eval.metrics.dip.clauses import ClauseWords, clause_words
from eval.metrics.dip.connective_rules import CONNECTIVE_CLASSES, CONNECTIVES
from eval.metrics.metric import Mark, metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured, ratio

LANGUAGES = ("en",)
_COLUMNS = 3
# As prepositions they are everywhere: were they candidates, nearly every output would have "any connective".
_NEVER_IN_DOUBT = frozenset({"by", "for", "without"})


@dataclass(frozen=True, slots=True)
class ConnectiveUse:
    """A connective where it stands: its name, which of CLASSES it is of, and its characters."""

    name: str
    kind: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ConnectiveMatch:
    """What an output has for a connective of the reference: the same, another, or none."""

    asked: ConnectiveUse
    given: ConnectiveUse | None

    @property
    def same(self) -> bool:
        """Whether it is the same connective."""
        return self.given is not None and self.given.name == self.asked.name


def find_connectives(annotation: Annotation) -> list[ConnectiveUse]:
    """Those in discourse use, in order."""
    text = clause_words(annotation)
    return [_use(annotation, at, end) for at, end in _spans(text) if _fits(text, at, end)]


def find_connective_candidates(annotation: Annotation) -> list[ConnectiveUse]:
    """All words that can be connectives, in order, whatever they are here."""
    text = clause_words(annotation)
    return [
        _use(annotation, at, end)
        for at, end in _spans(text)
        if " ".join(text.words[at:end]) not in _NEVER_IN_DOUBT or _fits(text, at, end)
    ]


def match_connectives(
    asked: Sequence[ConnectiveUse], given: Sequence[ConnectiveUse]
) -> list[ConnectiveMatch]:
    """The same connectives first, in order; what is then left on either side is paired in order."""
    left = list(given)
    found: dict[int, ConnectiveUse] = {}
    for place, use in enumerate(asked):
        if (same := next((one for one in left if one.name == use.name), None)) is not None:
            left.remove(same)
            found[place] = same
    others = iter(left)
    return [
        ConnectiveMatch(use, found[place] if place in found else next(others, None))
        for place, use in enumerate(asked)
    ]


@dataclass(frozen=True, slots=True)
class ConnectiveTally:
    """Of one connective: how often the reference has it, and how often the output has the same, another, or none."""

    asked: int
    same: int
    other: int
    lost: int


@dataclass(frozen=True, slots=True)
class DipConnectives:
    """Acc, with ANY and the accuracy of each class as its parts."""

    annotator: Annotator | None = None
    name: str = "dip-connectives"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Columns: for each class, how many the reference has, how many are the same, how many are answered at all."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return annotator
        documents = row_documents(corpus)
        rows = np.zeros((len(documents), len(CONNECTIVE_CLASSES) * _COLUMNS))
        for side, segment, answer in match_system_connectives(corpus, system, annotator):
            column = answer.asked.kind * _COLUMNS
            row = rows[side.first + segment]
            row[column : column + _COLUMNS] += (1, answer.same, answer.given is not None)
        parts = {"acc": _share(1), "any": _share(2), "lost": _lost}
        parts |= {f"acc of {label}": _share(1, kind) for kind, label in enumerate(CONNECTIVE_CLASSES)}
        told = metric_signature(self.name, list=len(CONNECTIVES), refs="each", annotator=annotator.name)
        return MetricCounts(rows, documents, _share(1), told, parts=parts)

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Those of the reference that were lost, and those that another stands for, on both sides."""
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return
        for side, segment, answer in match_system_connectives(corpus, system, annotator):
            asked, given = answer.asked, answer.given
            if given is None:
                yield Mark(side.id, segment, "reference", asked.start, asked.end, "lost", asked.name)
            elif not answer.same:
                note = f"{asked.name} → {given.name}"
                yield Mark(side.id, segment, "reference", asked.start, asked.end, "changed", note)
                yield Mark(side.id, segment, "output", given.start, given.end, "changed", note)

    def tally(self, corpus: Corpus, system: str) -> Mapping[str, ConnectiveTally]:
        """Which were lost: each connective of the references, those asked for most first."""
        counts: Counter[tuple[str, str]] = Counter()
        annotator = self._annotator(corpus)
        if isinstance(annotator, Unmeasured):
            return {}
        for _, _, answer in match_system_connectives(corpus, system, annotator):
            fate = "same" if answer.same else "other" if answer.given else "lost"
            counts[answer.asked.name, fate] += 1
        names = {name: sum(counts[name, fate] for fate in ("same", "other", "lost")) for name, _ in counts}
        return {
            name: ConnectiveTally(asked, counts[name, "same"], counts[name, "other"], counts[name, "lost"])
            for name, asked in sorted(names.items(), key=lambda item: (-item[1], item[0]))
        }

    def _annotator(self, corpus: Corpus) -> Annotator | Unmeasured:
        return dip_annotator_or_unmeasured(
            corpus, LANGUAGES, what="The metric of connectives", annotator=self.annotator
        )


def match_system_connectives(
    corpus: Corpus, system: str, annotator: Annotator
) -> Iterator[tuple[AnnotatedSides, int, ConnectiveMatch]]:
    """Every connective of every reference."""
    for side in annotate_sides(corpus, system, annotator):
        for segment, reference, output in side.both():
            if asked := find_connectives(reference):
                for answer in match_connectives(asked, find_connective_candidates(output)):
                    yield side, segment, answer


def _fits(text: ClauseWords, at: int, end: int) -> bool:
    return CONNECTIVES[" ".join(text.words[at:end])][1](text, at, end)


def _use(annotation: Annotation, at: int, end: int) -> ConnectiveUse:
    first, last = annotation.tokens[at], annotation.tokens[end - 1]
    name = " ".join(token.text.lower() for token in annotation.tokens[at:end])
    return ConnectiveUse(name, CONNECTIVES[name][0], first.start, last.end)


def _by_first_word() -> Mapping[str, list[tuple[str, ...]]]:
    """The connectives that begin with each word, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted((tuple(name.split()) for name in CONNECTIVES), key=len, reverse=True):
        found.setdefault(words[0], []).append(words)
    return found


_BY_FIRST = _by_first_word()


def _spans(text: ClauseWords) -> Iterator[tuple[int, int]]:
    """The longest at each place, left to right."""
    at = 0
    while at < len(text.words):
        here = (
            words for words in _BY_FIRST.get(text.words[at], ()) if text.words[at : at + len(words)] == words
        )
        length = len(next(here, ()))
        if length:
            yield at, at + length
        at += length or 1


def _share(column: int, kind: int | None = None) -> Fold:
    """Per cent of the reference's connectives, of one class or of all, that a column counts."""
    picked = range(len(CONNECTIVE_CLASSES)) if kind is None else (kind,)

    def fold(sums: FloatArray) -> FloatArray:
        above = sums[..., [one * _COLUMNS + column for one in picked]].sum(-1)
        return 100 * ratio(above, sums[..., [one * _COLUMNS for one in picked]].sum(-1))

    return fold


def _lost(sums: FloatArray) -> FloatArray:
    return 100 - _share(2)(sums)

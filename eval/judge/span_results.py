"""Errors marked by a judge as a metric: weighted errors per 100 words.

A segment without usable marks for one system is left out for all, so that systems are measured on the same text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ape.errors import InputError
from ape.text.tokens import words
from eval.corpus.corpus import Corpus, Document
from eval.judge.cost import JudgeCost
from eval.judge.error_spans import ERROR_CATEGORIES, DropReason, TranslationErrors
from eval.judge.judgement import Judgement, Unscored, UnscoredReason, Verdict
from eval.judge.pair_judge import pairs_from_corpus
from eval.judge.pair_results import PairJudgements
from eval.metrics.metric import Mark
from eval.statistics.counts import Fold, MetricCounts, Score, Unmeasured, share_fold

_PER_WORDS = 100.0


@dataclass(frozen=True, slots=True)
class SpanJudgements:
    """Errors of every segment by system, in the order of the corpus; a metric of that corpus (lower is better)."""

    corpus: Corpus
    segments: Mapping[str, tuple[TranslationErrors | Unscored, ...]]
    signature: str
    cost: JudgeCost = field(default_factory=JudgeCost)
    by_source: bool = True
    """Whether errors are per words of the source, which are the same for all systems, or of the output."""

    name: ClassVar[str] = "judge_spans"
    higher_is_better: ClassVar[bool] = False

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """Count words, error weights, and weights by category for each segment."""
        self._require_same_corpus(corpus)
        if system not in self.segments:
            return Unmeasured("the judge was not asked about this system", self.signature)
        if not any(self.common):
            return Unmeasured("no segment has usable marks for every system", self.signature)
        texts = [one for document in corpus.documents for one in self._counted_texts(document, system)]
        marked = zip(self.segments[system], self.common, texts, strict=True)
        rows = [_row(one, text) if common else _empty_row() for one, common, text in marked]
        lengths = [len(document) for document in corpus.documents]
        parts = {category: _rate(2 + place) for place, category in enumerate(ERROR_CATEGORIES)}
        documents = np.repeat(np.arange(len(lengths)), lengths)
        return MetricCounts(np.array(rows), documents, _rate(1), self.signature, parts=parts)

    @property
    def common(self) -> tuple[bool, ...]:
        """Whether each segment has usable marks for every system."""
        return tuple(
            all(isinstance(one, TranslationErrors) for one in segment)
            for segment in zip(*self.segments.values(), strict=True)
        )

    def unscored(self, system: str) -> Counter[UnscoredReason]:
        """Number of unusable answers by reason."""
        return Counter(one.why for one in self.segments[system] if isinstance(one, Unscored))

    def dropped(self, system: str) -> Counter[DropReason]:
        """Number of listed but dropped errors by reason."""
        found: Counter[DropReason] = Counter()
        for one in self.segments[system]:
            found.update(one.dropped if isinstance(one, TranslationErrors) else {})
        return found

    def marks(self, corpus: Corpus, system: str) -> Iterator[Mark]:
        """Positions of the errors."""
        self._require_same_corpus(corpus)
        for judged, (_, document, place) in zip(self.segments[system], corpus.segments(), strict=True):
            for error in judged.errors if isinstance(judged, TranslationErrors) else ():
                yield Mark(document.id, place, error.side, error.start, error.end, error.category, error.severity)

    def as_pairs(self, first: str, second: str) -> PairJudgements:
        """Convert to pairwise verdicts, for agreement with votes: the system with less error weight wins."""
        pairs = pairs_from_corpus(self.corpus, [(first, second)])
        sides = zip(pairs, self.segments[first], self.segments[second], strict=True)
        verdicts = {pair.id: _verdict(one, other) for pair, one, other in sides}
        return PairJudgements(pairs, {}, verdicts, self.signature, self.cost)

    def to_dict(self, *, answers: bool = False) -> dict[str, Any]:
        """For JSON; `answers` adds the raw answers."""
        return {
            "signature": self.signature,
            "segments": len(self.common),
            "scored": sum(self.common),
            "systems": {system: self._system_dict(system, answers=answers) for system in self.segments},
            "cost": self.cost.to_dict(),
        }

    def _system_dict(self, system: str, *, answers: bool) -> dict[str, Any]:
        counted = self.count(self.corpus, system)
        score = counted if isinstance(counted, Unmeasured) else counted.score()
        values = {"score": score.value, "parts": dict(score.parts)} if isinstance(score, Score) else {"score": None}
        return values | {
            "unscored": dict(self.unscored(system)),
            "dropped": dict(self.dropped(system)),
            "errors": [_segment_dict(result, answers=answers) for result in self.segments[system]],
        }

    def _counted_texts(self, document: Document, system: str) -> tuple[str, ...]:
        return document.sources if self.by_source else document.outputs[system]

    def _require_same_corpus(self, corpus: Corpus) -> None:
        if corpus != self.corpus:
            raise InputError("The judge marked another corpus. Judge this one first.")


def _row(marked: TranslationErrors | Unscored, text: str) -> list[float]:
    assert isinstance(marked, TranslationErrors)
    weights = Counter[str]()
    for error in marked.errors:
        weights[error.category] += error.weight  # type: ignore[assignment]  # a Counter of floats
    return [float(len(words(text))), marked.penalty, *(weights[category] for category in ERROR_CATEGORIES)]


def _empty_row() -> list[float]:
    return [0.0] * (2 + len(ERROR_CATEGORIES))


def _rate(column: int) -> Fold:
    return share_fold([column], [0], scale=_PER_WORDS)


def _verdict(first: TranslationErrors | Unscored, second: TranslationErrors | Unscored) -> Judgement:
    if isinstance(first, Unscored):
        return first
    if isinstance(second, Unscored):
        return second
    answers = (first.answer, second.answer)
    if first.penalty == second.penalty:
        return Verdict("tie", answers)
    return Verdict("first" if first.penalty < second.penalty else "second", answers)


def _segment_dict(result: TranslationErrors | Unscored, *, answers: bool) -> dict[str, Any]:
    if isinstance(result, Unscored):
        return {"unscored": result.why} | ({"answers": list(result.answers)} if answers else {})
    values: dict[str, Any] = {
        "penalty": result.penalty,
        "errors": [
            {
                "category": error.category,
                "severity": error.severity,
                "side": error.side,
                "span": [error.start, error.end],
            }
            for error in result.errors
        ],
        "dropped": dict(result.dropped),
    }
    return values | ({"answers": [result.answer]} if answers else {})

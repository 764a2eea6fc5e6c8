"""PAR3's leave-one-out scores with several human translations.

With n references, s_HUM is the mean over i of METRIC(HUM_i, the others), and s_MT the mean over i of METRIC(MT, the
same others), so people and machine are scored against the same texts. A system wins a segment if its score is above the
humans'; ties count for neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import Metric
from eval.statistics.counts import FloatArray, MetricCounts, Unmeasured

HUMAN = "human"


@dataclass(frozen=True, slots=True)
class ReferenceWins:
    """Numbers of segments or documents in which a system beats the humans, loses, and ties."""

    better: int
    worse: int
    ties: int

    @property
    def share(self) -> float | None:
        """The share of wins without ties; None if all are ties."""
        decided = self.better + self.worse
        return self.better / decided if decided else None


@dataclass(frozen=True, slots=True)
class LeaveOneOutScores:
    """Aggregated scores of humans and systems, and the wins."""

    human: float
    systems: Mapping[str, float]
    wins: Mapping[str, ReferenceWins]
    units: int
    """Number of segments, or of documents for document metrics."""
    left_out: int
    """Number of units without a score for some text."""
    signature: str


def leave_one_out(corpus: Corpus, metric: Metric) -> LeaveOneOutScores | Unmeasured:
    """The aggregated scores of every system by a metric, or why there are none."""
    if HUMAN in corpus.systems:
        raise InputError(
            f"The system name {HUMAN!r} is reserved for human translations: rename the system.", field="system"
        )
    most = max(len(document.references) for document in corpus.documents)
    if most < 2:
        return Unmeasured("at least two references are needed")
    scored: dict[str, list[FloatArray]] = {name: [] for name in (HUMAN, *corpus.systems)}
    signature = ""
    for number in range(most):
        without, places, size = _without_translator(corpus, number)
        if without is None:
            continue
        for name, found in scored.items():
            counted = metric.count(without, name)
            if isinstance(counted, Unmeasured):
                return counted
            found.append(_scores_by_segment(counted, without, places, size))
            signature = counted.signature
    return _aggregated({name: _mean(np.stack(found)) for name, found in scored.items()}, metric, signature)


def _aggregated(means: Mapping[str, FloatArray], metric: Metric, signature: str) -> LeaveOneOutScores | Unmeasured:
    known = ~np.isnan(np.stack(list(means.values()))).any(axis=0)
    if not known.any():
        return Unmeasured("no segment has a score for humans and systems", signature)
    human = means[HUMAN][known]
    sign = 1 if metric.higher_is_better else -1
    wins = {}
    for name, scores in means.items():
        margins = sign * (scores[known] - human)
        wins[name] = ReferenceWins(int((margins > 0).sum()), int((margins < 0).sum()), int((margins == 0).sum()))
    systems = {name: float(scores[known].mean()) for name, scores in means.items() if name != HUMAN}
    wins.pop(HUMAN)
    recipe, _, version = signature.rpartition("|v:")
    full_signature = f"{recipe}|agg:leave-one-out|v:{version}"
    return LeaveOneOutScores(float(human.mean()), systems, wins, int(known.sum()), int((~known).sum()), full_signature)


def _without_translator(corpus: Corpus, number: int) -> tuple[Corpus | None, list[int], int]:
    """The corpus with one translator as a system, its segments, and the number of all segments."""
    documents, places, size = [], [], 0
    for document in corpus.documents:
        length = len(document)
        if number < len(document.references):
            segments = [
                at for at in range(length)
                if document.references[number][at] is not None and len(document.references_of(at)) > 1
            ]  # fmt: skip
            if segments:
                documents.append(_hold_out(document, number, segments))
                places += [size + at for at in segments]
        size += length
    return (replace(corpus, documents=tuple(documents)) if documents else None), places, size


def _hold_out(document: Document, number: int, segments: list[int]) -> Document:
    human = tuple(document.references[number][at] or "" for at in segments)
    others = [texts for at, texts in enumerate(document.references) if at != number]
    return replace(
        document,
        outputs={HUMAN: human}
        | {name: tuple(texts[at] for at in segments) for name, texts in document.outputs.items()},
        references=tuple(tuple(texts[at] for at in segments) for texts in others),
        sources=tuple(document.sources[at] for at in segments) if document.sources else (),
    )


def _scores_by_segment(counted: MetricCounts, corpus: Corpus, places: list[int], size: int) -> FloatArray:
    """Scores at their positions in the whole corpus; a document's score is at its first segment."""
    scores = np.full(size, np.nan)
    if counted.unit == "segment" and len(counted.rows) == len(places):
        scores[places] = counted.row_scores()
        return scores
    starts = np.cumsum([0, *(len(document.outputs[HUMAN]) for document in corpus.documents)])
    found = counted.document_scores()
    scores[[places[start] for start in starts[: len(found)]]] = found
    return scores


def _mean(scores: FloatArray) -> FloatArray:
    """The mean over the references that have a score."""
    known = ~np.isnan(scores)
    total = np.where(known, scores, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)

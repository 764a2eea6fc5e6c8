"""Agreement of metrics with people: segment scores of each metric, human scores, and their correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError
from eval.corpus.human_scores import RatedSystem
from eval.metrics.metric import Metric, corpus_for_metric
from eval.statistics.correlation import HumanCorrelation, correlate_scores
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.rating_agreement import (
    RatingLevel,
    average_items,
    mask_unrated,
    pairwise_accuracy,
    soft_pairwise_accuracy,
)


@dataclass(frozen=True, slots=True)
class RatedScores:
    """A metric's scores of all rated segments and the human ones; higher is better on both sides."""

    metric: FloatArray
    human: FloatArray
    systems: tuple[str, ...]
    """Of each segment."""
    sentences: tuple[str, ...]
    documents: tuple[str, ...]
    """Of each segment; empty where documents are unknown."""
    sheets: tuple[str, ...]
    signature: str

    def matrices(self) -> tuple[FloatArray, FloatArray, NDArray[Any]]:
        """Metric and human scores by system and sentence, NaN where there is none, and each sentence's document."""
        systems, rows = np.unique(self.systems, return_inverse=True)
        sentences, first, columns = np.unique(self.sentences, return_index=True, return_inverse=True)
        found = []
        for values in (self.metric, self.human):
            matrix = np.full((len(systems), len(sentences)), np.nan)
            matrix[rows, columns] = values
            found.append(matrix)
        documents = np.asarray(self.documents or self.sentences)[first]
        return *mask_unrated(found[0], found[1]), documents


@dataclass(frozen=True, slots=True)
class LevelAgreement:
    """Agreement at one level; None where it is undefined."""

    level: RatingLevel
    kendall: float | None
    pearson: float | None
    accuracy: float | None
    """Pairwise accuracy within items, with calibrated ties at segment level; between systems at system level."""
    threshold: float | None
    """The calibrated tie threshold."""
    soft_accuracy: float | None
    """Soft pairwise accuracy, at system level."""
    values: int
    """Pairs of scores that are correlated."""


def score_ratings(
    metric: Metric, rated: Sequence[RatedSystem], *, score_name: str = "score"
) -> RatedScores | Unmeasured:
    """Score every rated segment; BLEU by its sentence variant, as corpus BLEU is undefined for most segments."""
    metric = getattr(metric, "for_segments", lambda: metric)()
    ours, signature = [], ""
    for system in rated:
        if score_name not in system.scores:
            raise InputError(
                f"There are no human scores for {score_name!r}, only for {', '.join(system.scores)}.",
                field="score_name",
            )
        counted = metric.count(corpus_for_metric(metric, system.corpus), system.system)
        if isinstance(counted, Unmeasured):
            return counted
        values = counted.row_scores() * (1 if metric.higher_is_better else -1)
        if counted.unit != "segment" or len(values) != len(system.scores[score_name]):
            return Unmeasured(f"{metric.name} scores {counted.unit}s, and people scored segments", counted.signature)
        ours.append(values)
        signature = counted.signature
    known = all(system.documents for system in rated)
    return RatedScores(
        np.concatenate(ours),
        np.concatenate([system.scores[score_name] for system in rated]),
        tuple(system.system for system in rated for _ in system.sentences),
        tuple(sentence for system in rated for sentence in system.sentences),
        tuple(document for system in rated for document in system.documents) if known else (),
        tuple(document.id for system in rated for _, document, _ in system.corpus.segments()),
        signature,
    )


def correlate_with_humans(
    metric: Metric, rated: Sequence[RatedSystem], *, score_name: str = "score", samples: int = 0, seed: int = 1
) -> HumanCorrelation | Unmeasured:
    """The correlation over all segments of all systems, with intervals if there are resamples."""
    found = score_ratings(metric, rated, score_name=score_name)
    return found if isinstance(found, Unmeasured) else correlate_ratings(found, samples=samples, seed=seed)


def correlate_ratings(scores: RatedScores, *, samples: int, seed: int) -> HumanCorrelation | Unmeasured:
    """Correlate over all segments; resamples draw documents where they are known, else sentences."""
    return correlate_scores(
        scores.metric,
        scores.human,
        sheets=scores.sheets,
        units=scores.documents or scores.sentences,
        signature=scores.signature,
        samples=samples,
        seed=seed,
    )


def agreement_by_level(scores: RatedScores, *, samples: int, seed: int) -> list[LevelAgreement]:
    """Agreement at segment level, at document level where documents are known, and at system level."""
    ours, theirs, documents = scores.matrices()
    found = [_level("segment", ours, theirs)]
    if scores.documents:
        found.append(_level("document", average_items(ours, documents), average_items(theirs, documents)))
    whole = np.zeros(ours.shape[1])
    soft = soft_pairwise_accuracy(ours, theirs, samples=max(samples, 1), seed=seed)
    return [*found, _level("system", average_items(ours, whole), average_items(theirs, whole), soft)]


def _level(level: RatingLevel, ours: FloatArray, theirs: FloatArray, soft: float | None = None) -> LevelAgreement:
    from scipy.stats import kendalltau  # type: ignore[import-untyped]

    known = ~(np.isnan(ours) | np.isnan(theirs))
    metric, human = ours[known], theirs[known]
    varied = len(metric) > 2 and np.ptp(metric) > 0 and np.ptp(human) > 0
    pairs = pairwise_accuracy(ours, theirs, calibrate=level != "system")
    return LevelAgreement(
        level,
        float(kendalltau(metric, human).statistic) if varied else None,
        float(np.corrcoef(metric, human)[0, 1]) if varied else None,
        pairs.value if pairs else None,
        pairs.threshold if pairs and level != "system" else None,
        soft,
        len(metric),
    )

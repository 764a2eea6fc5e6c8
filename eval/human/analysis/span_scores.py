"""Scores of systems from span annotation: means, MQM points and differences, with cluster bootstrap intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eval.human.span_rating import SpanRating
from eval.statistics.counts import FloatArray, Unmeasured, mean_fold
from eval.statistics.multiple_comparisons import holm_correction
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import bootstrap_interval, sum_rows_by_cluster


@dataclass(frozen=True, slots=True)
class SystemSpanScore:
    """A system: its mean score, and the errors of its texts by severity and category."""

    system: str
    texts: int
    """Ratings of a text by a rater."""
    score: ConfidenceInterval | Unmeasured
    """From 0 to 100, higher is better."""
    points: ConfidenceInterval | Unmeasured
    """MQM points of a text, lower is better."""
    severities: Mapping[str, int]
    categories: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SpanDifference:
    """How much higher the first system scores on the same passages by the same raters."""

    system: str
    other: str
    pairs: int
    difference: ConfidenceInterval | Unmeasured
    p_value: float | None
    """Two-sided, of a sign-flip permutation of whole clusters."""
    corrected: float | None
    """With Holm's correction over the pairs of systems."""


def system_span_scores(ratings: Sequence[SpanRating], *, samples: int, seed: int) -> tuple[SystemSpanScore, ...]:
    """One result for each system, the best mean score first."""
    found = []
    for system in sorted({rating.system for rating in ratings}):
        own = [rating for rating in ratings if rating.system == system]
        spans = [span for rating in own for span in rating.spans]
        found.append(
            SystemSpanScore(
                system,
                len(own),
                _mean(own, lambda rating: rating.score, samples, seed),
                _mean(own, lambda rating: rating.points, samples, seed),
                dict(sorted(Counter(str(span.severity) for span in spans).items())),
                dict(Counter(span.category for span in spans if span.category).most_common()),
            )
        )
    means = {one.system: np.mean([rating.score for rating in ratings if rating.system == one.system]) for one in found}
    return tuple(sorted(found, key=lambda one: -float(means[one.system])))


def _mean(
    ratings: Sequence[SpanRating], value: Callable[[SpanRating], float], samples: int, seed: int
) -> ConfidenceInterval | Unmeasured:
    rows = np.array([[value(rating), 1.0] for rating in ratings])
    sums = _by_cluster(rows, [one.cluster for one in ratings])
    return bootstrap_interval(sums, mean_fold(), samples=samples, seed=seed)


def _by_cluster(rows: FloatArray, clusters: Sequence[str]) -> FloatArray:
    _, numbers = np.unique(np.array(clusters), return_inverse=True)
    return sum_rows_by_cluster(rows, numbers)


def span_differences(ratings: Sequence[SpanRating], *, samples: int, seed: int) -> tuple[SpanDifference, ...]:
    """One comparison for each pair of systems that a rater scored on one passage; the better system first."""
    scores = {(one.rater, one.passage, one.system): one for one in ratings}
    found = []
    for system, other in combinations(sorted({rating.system for rating in ratings}), 2):
        pairs = [
            (one.score - scores[key].score, one.cluster)
            for one in scores.values()
            if one.system == system and (key := (one.rater, one.passage, other)) in scores
        ]
        if pairs:
            flipped = sum(difference for difference, _ in pairs) < 0
            names = (other, system) if flipped else (system, other)
            signed = [(-difference if flipped else difference, cluster) for difference, cluster in pairs]
            found.append(_difference(names, signed, samples, seed))
    p_values = [one.p_value for one in found if one.p_value is not None]
    corrected = iter(holm_correction(p_values))
    return tuple(
        one
        if one.p_value is None
        else SpanDifference(one.system, one.other, one.pairs, one.difference, one.p_value, next(corrected))
        for one in found
    )


def _difference(names: tuple[str, str], pairs: Sequence[tuple[float, str]], samples: int, seed: int) -> SpanDifference:
    rows = _by_cluster(np.array([[value, 1.0] for value, _ in pairs]), [cluster for _, cluster in pairs])
    interval = bootstrap_interval(rows, mean_fold(), samples=samples, seed=seed)
    p_value = None if isinstance(interval, Unmeasured) else _sign_flip(rows[:, 0], samples, seed)
    return SpanDifference(*names, len(pairs), interval, p_value, None)


def _sign_flip(sums: FloatArray, samples: int, seed: int) -> float:
    """The share of random signs of the clusters whose total is at least as far from 0, with 1 added to both counts."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(samples, len(sums)))
    totals = np.abs(signs @ sums)
    return float((np.sum(totals >= abs(sums.sum()) - 1e-9) + 1) / (samples + 1))

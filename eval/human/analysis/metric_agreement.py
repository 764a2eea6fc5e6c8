"""Agreement of a metric with human votes: pairwise accuracy and Kendall's τ-b.

Accuracy counts votes that prefer a text; a metric that scores both texts equal is half right. Kendall's τ-b relates
the difference of scores to the vote (second, tie, first), in the order in which the texts were shown. Intervals are
from a cluster bootstrap over items, or over documents where votes are clustered by document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.statistics.counts import FloatArray, Unmeasured, mean_fold
from eval.statistics.kendall_tau import weighted_kendall_tau
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import (
    BOOTSTRAP_SAMPLES,
    bootstrap_interval,
    percentile_interval,
    sum_rows_by_cluster,
)

# Weights held in memory.
_CELLS = 1 << 21
_CODES = {"second": 0, "tie": 1, "first": 2}


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How well a metric predicts the votes."""

    metric: str
    signature: str
    accuracy: ConfidenceInterval | Unmeasured
    tau: ConfidenceInterval | Unmeasured
    votes: int
    """Votes that prefer a text, where the metric scores both."""
    metric_ties: int
    """Those of them where the metric scores both equal."""
    left_out: int
    """Votes on texts without a score."""


def metric_agreement(
    votes: Iterable[Vote],
    scores: Mapping[tuple[str, str], float],
    *,
    metric: str,
    higher_is_better: bool = True,
    signature: str = "",
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 1,
) -> MetricAgreement | Unmeasured:
    """Compare votes with a score for each (item, system); a missing score is NaN or absent."""
    own = select_pair_votes(votes)
    sign = 1.0 if higher_is_better else -1.0
    nan = float("nan")
    differences = np.array(
        [sign * (scores.get((vote.item, vote.first), nan) - scores.get((vote.item, vote.second), nan)) for vote in own]
    )
    known = ~np.isnan(differences)
    if not known.any():
        return Unmeasured(f"{metric} has no score for both texts of any vote", signature)
    scored = [vote for vote, has_score in zip(own, known, strict=True) if has_score]
    differences, left_out = differences[known], int((~known).sum())
    answers = np.array([_CODES[vote.choice] for vote in scored])
    decided = answers != _CODES["tie"]
    correct = (1 + np.sign(differences) * (answers - 1)) / 2
    _, clusters = np.unique([vote.unit for vote in scored], return_inverse=True)
    rows = np.column_stack([correct, np.ones(len(scored))]) * decided[:, None]
    return MetricAgreement(
        metric,
        signature,
        bootstrap_interval(sum_rows_by_cluster(rows, clusters), mean_fold(0, 1), samples=samples, seed=seed),
        _tau_interval(differences, answers, clusters, samples=samples, seed=seed),
        int(decided.sum()),
        int((decided & (differences == 0)).sum()),
        left_out,
    )


def _tau_interval(
    differences: FloatArray, answers: NDArray[np.intp], clusters: NDArray[np.intp], *, samples: int, seed: int
) -> ConfidenceInterval | Unmeasured:
    number = int(clusters.max()) + 1
    value = float(weighted_kendall_tau(differences, answers, np.ones((1, len(differences))))[0])
    if np.isnan(value):
        return Unmeasured("the metric or the votes are the same everywhere, so there is no order to compare")
    rng = np.random.default_rng(seed)
    most = max(1, _CELLS // len(differences))
    taus = []
    for done in range(0, samples, most):
        weights = rng.multinomial(number, np.full(number, 1 / number), size=min(most, samples - done))
        taus.append(weighted_kendall_tau(differences, answers, weights[:, clusters].astype(np.float64)))
    return percentile_interval(value, np.concatenate(taus))

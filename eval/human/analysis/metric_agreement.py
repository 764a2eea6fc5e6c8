"""A metric beside the votes: how often it sides with the reader, and whether larger differences mean surer sides.

Accuracy is over votes that prefer a text; where the metric finds the two equal it is half right. Kendall's τ-b is
between the metric's difference and the vote (first, tie, second), in the order in which the texts were shown. Intervals
are over resamples of items, or of documents that were read as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.statistics.counts import FloatArray, Unmeasured, mean_fold, ratio
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, bootstrap_interval, percentile_interval

# Weights held at once.
_CELLS = 1 << 21
_CODES = {"second": 0, "tie": 1, "first": 2}


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How a metric stands to the votes."""

    metric: str
    signature: str
    accuracy: ConfidenceInterval | Unmeasured
    tau: ConfidenceInterval | Unmeasured
    votes: int
    """That prefer a text, where the metric has a score for both."""
    metric_ties: int
    """Of those, where it finds both equal."""
    left_out: int
    """Votes on texts that it has no score for."""


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
    """From a score for each (item, system); NaN or none where there is no score."""
    own = select_pair_votes(votes)
    sign = 1.0 if higher_is_better else -1.0
    nothing = float("nan")
    apart = np.array(
        [
            sign
            * (scores.get((vote.item, vote.first), nothing) - scores.get((vote.item, vote.second), nothing))
            for vote in own
        ]
    )
    known = ~np.isnan(apart)
    if not known.any():
        return Unmeasured(f"{metric} has no score for both texts of any vote", signature)
    kept = [vote for vote, has in zip(own, known, strict=True) if has]
    apart, left_out = apart[known], int((~known).sum())
    decided = np.array([vote.winner is not None for vote in kept])
    right = _right(apart, kept)
    _, places = np.unique([vote.unit for vote in kept], return_inverse=True)
    rows = np.zeros((int(places.max()) + 1, 2))
    np.add.at(rows, places[decided], np.column_stack([right, np.ones(len(kept))])[decided])
    return MetricAgreement(
        metric,
        signature,
        bootstrap_interval(rows, mean_fold(0, 1), samples=samples, seed=seed),
        _tau(apart, np.array([_CODES[vote.choice] for vote in kept]), places, samples=samples, seed=seed),
        int(decided.sum()),
        int((decided & (apart == 0)).sum()),
        left_out,
    )


def _right(apart: FloatArray, votes: Sequence[Vote]) -> FloatArray:
    wanted = np.array([1.0 if vote.choice == "first" else -1.0 for vote in votes])
    agreed: FloatArray = (1 + np.sign(apart) * wanted) / 2
    return agreed


def _tau(
    apart: FloatArray, answers: NDArray[np.intp], places: NDArray[np.intp], *, samples: int, seed: int
) -> ConfidenceInterval | Unmeasured:
    items = int(places.max()) + 1
    value = float(weighted_kendall_tau(apart, answers, np.ones((1, len(apart))))[0])
    if np.isnan(value):
        return Unmeasured("the metric or the votes say the same everywhere, so there is no order to compare")
    chance = np.random.default_rng(seed)
    most = max(1, _CELLS // len(apart))
    found = []
    for done in range(0, samples, most):
        size = min(most, samples - done)
        times = chance.multinomial(items, np.full(items, 1 / items), size=size)
        found.append(weighted_kendall_tau(apart, answers, times[:, places].astype(np.float64)))
    return percentile_interval(value, np.concatenate(found))


def weighted_kendall_tau(values: FloatArray, answers: NDArray[np.intp], weights: FloatArray) -> FloatArray:
    """Kendall's τ-b of values with a few ordered answers, each taken so many times: (samples, votes) to (samples,).

    Concordant pairs are counted by running sums along the sorted values, so all samples are done at once.
    """
    order = np.argsort(values, kind="stable")
    _, starts = np.unique(values[order], return_index=True)
    by_answer = [
        np.add.reduceat(np.where(answers[order] == code, weights[:, order], 0.0), starts, axis=1)
        for code in np.unique(answers)
    ]
    totals = [given.sum(axis=1) for given in by_answer]
    ahead = np.zeros(len(weights))
    for low, high in combinations(range(len(by_answer)), 2):
        below = np.cumsum(by_answer[low], axis=1) - by_answer[low]
        above = totals[low][:, None] - below - by_answer[low]
        ahead += (by_answer[high] * (below - above)).sum(axis=1)
    number = sum(totals, np.zeros(len(weights)))
    every = number * (number - 1) / 2
    alike = sum(by_answer, np.zeros_like(by_answer[0]))
    same_value = (alike * (alike - 1) / 2).sum(axis=1)
    same_answer = sum((given * (given - 1) / 2 for given in totals), np.zeros(len(weights)))
    return ratio(ahead, np.sqrt((every - same_value) * (every - same_answer)))

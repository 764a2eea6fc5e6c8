"""Weighted Kendall's τ-b, for many sets of weights at once."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eval.statistics.counts import FloatArray, ratio


def weighted_kendall_tau(values: FloatArray, answers: NDArray[np.intp], weights: FloatArray) -> FloatArray:
    """Kendall's τ-b of values with a few ordered answers, for weights of shape (samples, votes).

    Concordant pairs are counted by running sums along the sorted values, so all samples are computed together.
    """
    order = np.argsort(values, kind="stable")
    _, starts = np.unique(values[order], return_index=True)
    by_answer = [
        np.add.reduceat(np.where(answers[order] == code, weights[:, order], 0.0), starts, axis=1)
        for code in np.unique(answers)
    ]
    totals = [group.sum(axis=1) for group in by_answer]
    concordance = np.zeros(len(weights))
    for low, high in combinations(range(len(by_answer)), 2):
        below = np.cumsum(by_answer[low], axis=1) - by_answer[low]
        above = totals[low][:, None] - below - by_answer[low]
        concordance += (by_answer[high] * (below - above)).sum(axis=1)
    number = sum(totals, np.zeros(len(weights)))
    pairs = number * (number - 1) / 2
    tied = sum(by_answer, np.zeros_like(by_answer[0]))
    tied_values = (tied * (tied - 1) / 2).sum(axis=1)
    tied_answers = sum((group * (group - 1) / 2 for group in totals), np.zeros(len(weights)))
    return ratio(concordance, np.sqrt((pairs - tied_values) * (pairs - tied_answers)))

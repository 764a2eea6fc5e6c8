"""sacrebleu's formulas, vectorised over sums so that a thousand resamples fold at once.

The columns are sacrebleu's sufficient statistics, and the score of their sum is its corpus score, except where neither
side has a word: sacrebleu gives 0, and here the score is undefined.
"""

from __future__ import annotations

import numpy as np

from eval.statistics.counts import FloatArray, Fold, ratio


def bleu_fold(*, order: int = 4, effective_order: bool = False) -> Fold:
    """BLEU with exponential smoothing. Columns: output length, reference length, matches by order, n-grams by order."""

    def fold(sums: FloatArray) -> FloatArray:
        length, reference_length = sums[..., 0], sums[..., 1]
        matches, ngrams = sums[..., 2 : 2 + order], sums[..., 2 + order :]
        seen = ngrams > 0
        missed = seen & (matches == 0)
        # The first order without a match counts half a match, the next a quarter, and so on.
        counted = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
        precisions = np.where(seen, 100 * ratio(counted, ngrams), 1.0)
        orders = seen.sum(axis=-1) if effective_order else np.full(length.shape, order)
        mean = np.log(precisions).sum(axis=-1) / np.maximum(orders, 1)
        score = _brevity_penalty(length, reference_length) * np.exp(mean)
        nothing = (matches.sum(axis=-1) == 0) | (seen.sum(axis=-1) < orders)
        return np.where(length + reference_length == 0, np.nan, np.where(nothing, 0.0, score))

    return fold


def _brevity_penalty(length: FloatArray, reference_length: FloatArray) -> FloatArray:
    lacking = np.where(length > 0, 1 - ratio(reference_length, length), -np.inf)
    return np.exp(np.where(length < reference_length, lacking, 0.0))


def chrf_fold(*, beta: int = 2) -> Fold:
    """chrF and chrF++. Columns for each order: n-grams of the output, of the reference, and in both."""

    def fold(sums: FloatArray) -> FloatArray:
        ours, theirs, both = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
        known = (ours > 0) & (theirs > 0)
        orders = known.sum(axis=-1)
        precision = ratio(np.where(known, ratio(both, ours), 0.0).sum(axis=-1), orders)
        recall = ratio(np.where(known, ratio(both, theirs), 0.0).sum(axis=-1), orders)
        score = 100 * ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)
        empty = ours.sum(axis=-1) + theirs.sum(axis=-1) == 0
        return np.where(empty, np.nan, np.nan_to_num(score, nan=0.0))

    return fold


def ter_fold(sums: FloatArray) -> FloatArray:
    """TER. Columns: edits, and the mean length of the references."""
    edits, length = sums[..., 0], sums[..., 1]
    score = 100 * ratio(edits, length)
    return np.where((length == 0) & (edits > 0), 100.0, score)

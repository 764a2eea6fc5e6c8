"""Resampling of a metric's rows by products with weight matrices, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ape.errors import InputError
from eval.statistics.counts import FloatArray, Fold, MetricCounts

ResamplingUnit: TypeAlias = Literal["segment", "document"]

# Weights held at once: 2 MB of them, which stay in the cache, however long the corpus.
_CELLS = 1 << 18
# Resamples multiplied at once: so few that BLAS keeps to one thread. Its threads wait for each other by spinning, and
# on a busy machine that took ten times the product itself.
_BLOCK = 8


def resampling_units(counted: Sequence[MetricCounts], by: ResamplingUnit) -> list[FloatArray]:
    """The units to draw for each system: its rows, or the sums of its rows by document.

    The rows of a document metric are documents in either case.
    """
    first = counted[0]
    for one in counted[1:]:
        _refuse_unlike(first, one, by)
    if by == "segment":
        return [one.rows for one in counted]
    present = np.unique(first.documents)
    return [_by_document(one, present) for one in counted]


def _by_document(counted: MetricCounts, present: NDArray[np.intp]) -> FloatArray:
    sums = np.zeros((len(present), counted.rows.shape[1]))
    np.add.at(sums, np.searchsorted(present, counted.documents), counted.rows)
    return sums


def _refuse_unlike(first: MetricCounts, second: MetricCounts, by: ResamplingUnit) -> None:
    if first.signature != second.signature:
        raise InputError(
            f"These were not counted the same way and can't be compared: {first.signature} and {second.signature}."
        )
    ours, theirs = first.documents, second.documents
    if by == "document":
        ours, theirs = np.unique(ours), np.unique(theirs)
    if not np.array_equal(ours, theirs):
        raise InputError(f"The two systems were not counted over the same {by}s ({first.signature}).")


def bootstrap_scores(systems: Sequence[FloatArray], fold: Fold, *, samples: int, seed: int) -> list[FloatArray]:
    """The score of every system in every resample; NaN where it is undefined.

    All systems share the draws, as a test of paired differences requires; drawing takes most of the time.
    """
    ends = np.cumsum([rows.shape[1] for rows in systems])[:-1]
    scores: list[list[FloatArray]] = [[] for _ in systems]
    for sums in _drawn(np.hstack(systems), samples=samples, seed=seed):
        for found, own in zip(scores, np.split(sums, ends, axis=1), strict=True):
            found.append(fold(own))
    return [np.concatenate(found) for found in scores]


def _drawn(rows: FloatArray, *, samples: int, seed: int) -> Iterator[FloatArray]:
    """Sums of rows drawn with replacement, as many as there are: (samples, columns) in blocks.

    The draws equal those of sacrebleu for the same seed.
    """
    chance = np.random.default_rng(seed)
    number = len(rows)
    for size in _sizes(samples, number):
        places = chance.integers(number, size=(size, number))
        places += np.arange(size)[:, None] * number
        weights = np.bincount(places.ravel(), minlength=size * number).reshape(size, number)
        yield _product(weights, rows)


def randomization_differences(
    first: FloatArray, second: FloatArray, fold: Fold, *, samples: int, seed: int
) -> FloatArray:
    """Differences of two systems whose rows are swapped at random."""
    chance = np.random.default_rng(seed)
    apart = second - first
    here, there = first.sum(axis=0), second.sum(axis=0)
    found = []
    for size in _sizes(samples, len(first)):
        moved = _product(chance.integers(2, size=(size, len(first)), dtype=np.uint8), apart)
        found.append(fold(there - moved) - fold(here + moved))
    return np.concatenate(found)


def _product(weights: NDArray[np.integer[Any]], rows: FloatArray) -> FloatArray:
    factors = weights.astype(np.float64)
    whole = len(factors) - len(factors) % _BLOCK
    blocks = factors[:whole].reshape(-1, _BLOCK, len(rows)) @ rows
    return np.concatenate([blocks.reshape(whole, rows.shape[1]), factors[whole:] @ rows])


def _sizes(samples: int, number: int) -> Iterator[int]:
    if samples < 1:
        raise InputError(f"There must be at least one resample, not {samples}.", field="samples")
    most = max(1, _CELLS // max(1, number))
    while samples > 0:
        yield min(most, samples)
        samples -= most

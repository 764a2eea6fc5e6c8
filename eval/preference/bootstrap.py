"""Resamples of items, as sums of their rows. Equal rows are drawn together, so what is drawn is counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ape.errors import InputError
from eval.metric import Numbers, Unmeasured
from eval.preference.proportion import LEVEL
from eval.significance.paired import Interval

SAMPLES = 2000
# Counts held at once, some 30 MB, however many items differ.
_CELLS = 1 << 22


def drawn(rows: Numbers, *, samples: int, seed: int) -> Numbers:
    """The sums of as many rows as there are, drawn with replacement: (samples, columns)."""
    if samples < 1:
        raise InputError(f"There must be at least one resample, not {samples}.", field="samples")
    kinds, number = np.unique(rows, axis=0, return_counts=True)
    chance = np.random.default_rng(seed)
    most = max(1, _CELLS // len(kinds))
    sizes = [min(most, samples - done) for done in range(0, samples, most)]
    shares = number / len(rows)
    return np.concatenate(
        [chance.multinomial(len(rows), shares, size=size).astype(np.float64) @ kinds for size in sizes]
    )


def bootstrapped(
    rows: Numbers, fold: Callable[[Numbers], Numbers], *, samples: int, seed: int, level: float = LEVEL
) -> Interval | Unmeasured:
    """A score folded from sums of rows, and where it lies in most of the resamples."""
    if len(rows) < 2:
        return Unmeasured("there are fewer than two items, and chance can't be told from one")
    value = float(fold(rows.sum(axis=0)))
    if np.isnan(value):
        return Unmeasured("all said the same, so what chance would do can't be told")
    return spread(value, fold(drawn(rows, samples=samples, seed=seed)), level=level)


def spread(value: float, found: Numbers, *, level: float = LEVEL) -> Interval | Unmeasured:
    """The percentile interval of what resamples gave, NaN where one had nothing to say."""
    known = found[~np.isnan(found)]
    if not len(known):
        return Unmeasured("in none of the resamples was there anything to measure")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high), len(found), len(found) - len(known))

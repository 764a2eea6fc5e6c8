"""Several raters on one item are no independent votes: an interval and an exact test that take items as wholes.

A passage where one system shines wins it many votes at once, and a binomial test over votes then finds too much. So
does a document whose passages are read one after the other: there the document is the item. The
interval is Wilson's on the effective number of votes (Korn and Graubard 1998, with their correction for few items). The
test tosses a coin for each item, whether all its votes change sides; where every item has one vote it is the binomial
test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from eval.statistics.counts import FloatArray
from eval.statistics.proportion import CONFIDENCE_LEVEL, ProportionBounds, wilson_bounds


@dataclass(frozen=True, slots=True)
class ClusteredProportion:
    """The same rate, with items as what was sampled."""

    items: int
    effective_votes: float
    """So many independent votes would say as much."""
    bounds: ProportionBounds
    p_value: float
    """Exact and two-sided."""
    worth: float
    """Of an independent vote, what one says; without the allowance for few items, which goes when more come."""


def clustered_proportion(
    won: Sequence[float] | FloatArray, votes: Sequence[float] | FloatArray, *, level: float = CONFIDENCE_LEVEL
) -> ClusteredProportion:
    """From what one system won on each item, of how many votes; at least one vote in all."""
    ours, given = np.asarray(won, np.float64), np.asarray(votes, np.float64)
    ours, given = ours[given > 0], given[given > 0]
    rate = float(ours.sum() / given.sum())
    number, worth = float(given.sum()), _worth(ours, given, rate)
    effective = min(number, worth * number * _few(len(given), rate, level=level))
    found = wilson_bounds(rate * effective, effective, level=level)
    bounds = ProportionBounds(found.low, found.high, "Wilson, on effective votes", level)
    return ClusteredProportion(
        len(given), effective, bounds, sign_flip_p_value(2 * ours - given), min(1.0, worth)
    )


def clustered_proportion_by_unit(
    units: Sequence[Hashable], won: Sequence[float], *, level: float = CONFIDENCE_LEVEL
) -> ClusteredProportion | None:
    """The same from single votes, each with what it belongs to; None where no two belong together."""
    number = Counter(units)
    if len(number) == len(units):
        return None
    sums = dict.fromkeys(number, 0.0)
    for unit, worth in zip(units, won, strict=True):
        sums[unit] += worth
    return clustered_proportion(list(sums.values()), list(number.values()), level=level)


def _worth(won: FloatArray, votes: FloatArray, rate: float) -> float:
    items, total = len(votes), float(votes.sum())
    if _says_nothing_of_chance(items, rate):
        return items / total
    variance = items / (items - 1) * float(((won - rate * votes) ** 2).sum()) / total**2
    return rate * (1 - rate) / variance / total if variance > 0 else 1.0


def _few(items: int, rate: float, *, level: float) -> float:
    from scipy.stats import norm, t  # type: ignore[import-untyped]

    if _says_nothing_of_chance(items, rate):
        return 1.0
    tail = (1 - level) / 2
    return float(norm.isf(tail) / t.isf(tail, items - 1)) ** 2


def _says_nothing_of_chance(items: int, rate: float) -> bool:
    """All agree: each item counts once."""
    return items == 1 or rate in (0.0, 1.0)


def sign_flip_p_value(nets: Sequence[float] | FloatArray) -> float:
    """How often random signs make the sum of these as large, by the whole distribution. They are whole numbers."""
    sizes = np.abs(np.rint(np.asarray(nets))).astype(int)
    real, reach = abs(int(np.rint(np.sum(nets)))), int(sizes.sum())
    chance = np.zeros(2 * reach + 1)
    chance[reach] = 1.0
    for size in sizes[sizes > 0]:
        chance = (np.roll(chance, size) + np.roll(chance, -size)) / 2
    sums = np.abs(np.arange(-reach, reach + 1))
    return min(1.0, float(chance[sums >= real].sum()))

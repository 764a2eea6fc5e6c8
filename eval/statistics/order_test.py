"""Exact permutation test of display order: whether being shown first changes who wins, given who is better.

The orders of display are permuted among the runs of a stratum (a pair of systems), with the wins held fixed. So a
better system that was shown first more often is no evidence, and a stratum whose order never varied has none. With one
vote a run this is Fisher's exact test, stratified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from eval.statistics.counts import FloatArray

_TOLERANCE = 1 + 1e-7


@dataclass(frozen=True, slots=True)
class OrderedRun:
    """Votes of one stratum in one order of display."""

    stratum: Hashable
    swapped: bool
    """Whether the stratum's second system was shown first."""
    lead: int
    """Wins of the stratum's first system, minus its losses."""


def varied_strata(runs: Iterable[OrderedRun]) -> frozenset[Hashable]:
    """The strata that were shown in both orders."""
    orders = {(run.stratum, run.swapped) for run in runs}
    return frozenset(stratum for stratum, swapped in orders if (stratum, not swapped) in orders)


def order_p_value(runs: Sequence[OrderedRun]) -> float:
    """Two-sided p-value; 1 where no stratum has both orders."""
    strata: dict[Hashable, list[OrderedRun]] = {}
    for run in runs:
        strata.setdefault(run.stratum, []).append(run)
    lowest, observed, probability = 0, 0, np.ones(1)
    for own in strata.values():
        least, distribution = _unswapped_lead(Counter(run.lead for run in own), sum(not run.swapped for run in own))
        probability = np.convolve(probability, distribution)
        lowest += least
        observed += sum(run.lead for run in own if not run.swapped)
    return min(1.0, float(probability[probability <= probability[observed - lowest] * _TOLERANCE].sum()))


def _unswapped_lead(leads: Mapping[int, int], chosen: int) -> tuple[int, FloatArray]:
    """The smallest sum of the leads of `chosen` runs drawn at random, and the probability of each sum from there on."""
    from scipy.stats import hypergeom  # type: ignore[import-untyped]

    if len(leads) == 2:
        (low, fewer), (high, more) = sorted(leads.items())
        counts = np.arange(max(0, chosen - fewer), min(chosen, more) + 1)
        sums = low * chosen + (high - low) * counts
        distribution = np.zeros(int(sums[-1] - sums[0]) + 1)
        distribution[sums - sums[0]] = hypergeom.pmf(counts, fewer + more, more, chosen)
        return int(sums[0]), distribution
    ways = {(0, 0): 1}
    for lead, number in leads.items():
        grown: Counter[tuple[int, int]] = Counter()
        for (count, total), before in ways.items():
            for taken in range(min(number, chosen - count) + 1):
                grown[count + taken, total + taken * lead] += before * comb(number, taken)
        ways = dict(grown)
    sums_of = {total: before for (count, total), before in ways.items() if count == chosen}
    least, every = min(sums_of), comb(sum(leads.values()), chosen)
    distribution = np.zeros(max(sums_of) - least + 1)
    for total, before in sums_of.items():
        distribution[total - least] = before / every
    return least, distribution

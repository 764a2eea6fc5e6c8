"""How far raters agree beyond chance, all together and two by two, with intervals over resamples.

An answer is the system that was preferred, in whichever order the two were shown; a tie lies between them on the
ordinal scale. With more than two systems the sides of a pair are told apart by the order of their names, the same for
all raters. What is drawn again is items, or documents that were read as one. An interval of no width means that no
resample can differ, as where all agree on all; not that it is certain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from eval.metric import Fold, Numbers, Unmeasured, ratio
from eval.preference.bootstrap import SAMPLES, bootstrapped
from eval.preference.coefficients import (
    Codes,
    ac1,
    agreements,
    alpha,
    cohen,
    coincidences,
    counts_of,
    crossed,
    fleiss,
)
from eval.preference.counted import counted, raters_of
from eval.preference.vote import Vote
from eval.significance.paired import Interval


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters on the items that both judged."""

    first: str
    second: str
    items: int
    same: Interval | Unmeasured
    """The share of items with the same answer."""
    kappa: Interval | Unmeasured
    """Cohen's."""
    ac1: Interval | Unmeasured


@dataclass(frozen=True, slots=True)
class Agreement:
    """All raters on all items that at least two of them judged."""

    items: int
    votes: int
    raters: int
    same: Interval | Unmeasured
    """The share of agreeing pairs of answers."""
    alpha: Interval | Unmeasured
    """Krippendorff's, nominal."""
    alpha_ordinal: Interval | Unmeasured
    """With a tie between the two sides; as alpha where nobody tied."""
    fleiss: Interval | Unmeasured
    ac1: Interval | Unmeasured
    """Gwet's: it keeps its sense where nearly all votes go one way."""
    by_pair: tuple[RaterPair, ...]


def agreement(votes: Iterable[Vote], *, samples: int = SAMPLES, seed: int = 1) -> Agreement | Unmeasured:
    """Every coefficient, or why there is none."""
    own = counted(votes)
    raters = raters_of(own)
    if not own:
        return Unmeasured("there is no vote to count")
    if len(raters) < 2:
        return Unmeasured(f"there is one rater only ({raters[0]}), and nobody to agree with")
    categories = 3 if any(vote.winner is None for vote in own) else 2
    codes = _codes(own, raters, categories)
    units = _units(own)
    counts = counts_of(codes, categories)
    if not len(counts):
        return Unmeasured("no item was judged by two raters")
    compared = units[(codes >= 0).sum(axis=1) > 1]

    def found(rows: Numbers, fold: Fold) -> Interval | Unmeasured:
        return bootstrapped(_by_unit(rows, compared), fold, samples=samples, seed=seed)

    met, alike = coincidences(counts), agreements(counts)
    return Agreement(
        len(counts),
        int(counts.sum()),
        len(raters),
        found(alike, _same),
        found(met, alpha(categories)),
        found(met, alpha(categories, "ordinal")),
        found(alike, fleiss(categories)),
        found(alike, ac1(categories)),
        _by_pair(codes, units, raters, categories, samples=samples, seed=seed),
    )


def _codes(votes: Iterable[Vote], raters: tuple[str, ...], categories: int) -> Codes:
    """(items, raters): 0 and the highest for the two sides, 1 of 3 for a tie, −1 for no answer."""
    own = list(votes)
    items = {item: at for at, item in enumerate(dict.fromkeys((vote.item, vote.pair) for vote in own))}
    place = {rater: at for at, rater in enumerate(raters)}
    codes = np.full((len(items), len(raters)), -1)
    for vote in own:
        code = 1 if vote.winner is None else (0 if vote.winner == vote.pair[0] else categories - 1)
        codes[items[vote.item, vote.pair], place[vote.rater]] = code
    return codes


def _units(votes: Iterable[Vote]) -> Codes:
    """Of each item, in the order of `_codes`, the number of the document it was read in, or its own."""
    units = {(vote.item, vote.pair): vote.unit for vote in votes}
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units.values()))}
    return np.array([numbers[unit] for unit in units.values()])


def _by_unit(rows: Numbers, units: Codes) -> Numbers:
    """The rows of one document, summed: it is documents that were drawn, and not their passages."""
    _, places = np.unique(units, return_inverse=True)
    summed = np.zeros((int(places.max()) + 1, rows.shape[1]))
    np.add.at(summed, places, rows)
    return summed


def _by_pair(
    codes: Codes, units: Codes, raters: tuple[str, ...], categories: int, *, samples: int, seed: int
) -> tuple[RaterPair, ...]:
    found = []
    for one, other in combinations(range(len(raters)), 2):
        cells = crossed(codes[:, one], codes[:, other], categories)
        if not len(cells):
            continue
        met = units[(codes[:, [one, other]] >= 0).all(axis=1)]
        alike = _by_unit(agreements(counts_of(codes[:, [one, other]], categories)), met)
        same, gwet = (
            bootstrapped(alike, fold, samples=samples, seed=seed) for fold in (_same, ac1(categories))
        )
        kappa = bootstrapped(_by_unit(cells, met), cohen(categories), samples=samples, seed=seed)
        found.append(RaterPair(raters[one], raters[other], len(cells), same, kappa, gwet))
    return tuple(found)


def _same(sums: Numbers) -> Numbers:
    return ratio(sums[..., 0], sums[..., 1])

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

from eval.human.analysis.vote_selection import raters_in_votes, select_pair_votes
from eval.human.vote import Vote
from eval.statistics.agreement_coefficients import (
    AnswerCodes,
    agreement_rows,
    answer_counts,
    cohen_kappa,
    coincidence_rows,
    contingency_rows,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)
from eval.statistics.counts import FloatArray, Fold, Unmeasured, ratio
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, bootstrap_interval


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Two raters on the items that both judged."""

    first: str
    second: str
    items: int
    same: ConfidenceInterval | Unmeasured
    """The share of items with the same answer."""
    kappa: ConfidenceInterval | Unmeasured
    """Cohen's."""
    ac1: ConfidenceInterval | Unmeasured


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """All raters on all items that at least two of them judged."""

    items: int
    votes: int
    raters: int
    same: ConfidenceInterval | Unmeasured
    """The share of agreeing pairs of answers."""
    alpha: ConfidenceInterval | Unmeasured
    """Krippendorff's, nominal."""
    alpha_ordinal: ConfidenceInterval | Unmeasured
    """With a tie between the two sides; as alpha where nobody tied."""
    fleiss: ConfidenceInterval | Unmeasured
    ac1: ConfidenceInterval | Unmeasured
    """Gwet's: it keeps its sense where nearly all votes go one way."""
    by_pair: tuple[RaterPair, ...]


def rater_agreement(
    votes: Iterable[Vote], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1
) -> RaterAgreement | Unmeasured:
    """Every coefficient, or why there is none."""
    own = select_pair_votes(votes)
    raters = raters_in_votes(own)
    if not own:
        return Unmeasured("there is no vote to count")
    if len(raters) < 2:
        return Unmeasured(f"there is one rater only ({raters[0]}), and nobody to agree with")
    categories = 3 if any(vote.winner is None for vote in own) else 2
    codes = _codes(own, raters, categories)
    units = _units(own)
    counts = answer_counts(codes, categories)
    if not len(counts):
        return Unmeasured("no item was judged by two raters")
    compared = units[(codes >= 0).sum(axis=1) > 1]

    def found(rows: FloatArray, fold: Fold) -> ConfidenceInterval | Unmeasured:
        return bootstrap_interval(_by_unit(rows, compared), fold, samples=samples, seed=seed)

    met, alike = coincidence_rows(counts), agreement_rows(counts)
    return RaterAgreement(
        len(counts),
        int(counts.sum()),
        len(raters),
        found(alike, _same),
        found(met, krippendorff_alpha(categories)),
        found(met, krippendorff_alpha(categories, "ordinal")),
        found(alike, fleiss_kappa(categories)),
        found(alike, gwet_ac1(categories)),
        _by_pair(codes, units, raters, categories, samples=samples, seed=seed),
    )


def _codes(votes: Iterable[Vote], raters: tuple[str, ...], categories: int) -> AnswerCodes:
    """(items, raters): 0 and the highest for the two sides, 1 of 3 for a tie, −1 for no answer."""
    own = list(votes)
    items = {item: at for at, item in enumerate(dict.fromkeys((vote.item, vote.pair) for vote in own))}
    place = {rater: at for at, rater in enumerate(raters)}
    codes = np.full((len(items), len(raters)), -1)
    for vote in own:
        code = 1 if vote.winner is None else (0 if vote.winner == vote.pair[0] else categories - 1)
        codes[items[vote.item, vote.pair], place[vote.rater]] = code
    return codes


def _units(votes: Iterable[Vote]) -> AnswerCodes:
    """Of each item, in the order of `_codes`, the number of the document it was read in, or its own."""
    units = {(vote.item, vote.pair): vote.unit for vote in votes}
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units.values()))}
    return np.array([numbers[unit] for unit in units.values()])


def _by_unit(rows: FloatArray, units: AnswerCodes) -> FloatArray:
    """The rows of one document, summed: it is documents that were drawn, and not their passages."""
    _, places = np.unique(units, return_inverse=True)
    summed = np.zeros((int(places.max()) + 1, rows.shape[1]))
    np.add.at(summed, places, rows)
    return summed


def _by_pair(
    codes: AnswerCodes,
    units: AnswerCodes,
    raters: tuple[str, ...],
    categories: int,
    *,
    samples: int,
    seed: int,
) -> tuple[RaterPair, ...]:
    found = []
    for one, other in combinations(range(len(raters)), 2):
        cells = contingency_rows(codes[:, one], codes[:, other], categories)
        if not len(cells):
            continue
        met = units[(codes[:, [one, other]] >= 0).all(axis=1)]
        alike = _by_unit(agreement_rows(answer_counts(codes[:, [one, other]], categories)), met)
        same, gwet = (
            bootstrap_interval(alike, fold, samples=samples, seed=seed)
            for fold in (_same, gwet_ac1(categories))
        )
        kappa = bootstrap_interval(_by_unit(cells, met), cohen_kappa(categories), samples=samples, seed=seed)
        found.append(RaterPair(raters[one], raters[other], len(cells), same, kappa, gwet))
    return tuple(found)


def _same(sums: FloatArray) -> FloatArray:
    return ratio(sums[..., 0], sums[..., 1])

"""Inter-rater agreement beyond chance, over all raters and for each pair of raters.

An answer is the preferred system, whatever the order of display; a tie lies between the two on the ordinal scale. With
more than two systems, the two sides of a pair are ordered by name, the same for all raters. Intervals are from a
cluster bootstrap over items or documents. An interval of zero width means that no resample can differ, as where all
raters agree everywhere; it does not mean certainty.
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
from eval.statistics.counts import FloatArray, Fold, Unmeasured, mean_fold
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, bootstrap_interval, sum_rows_by_cluster


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Agreement of two raters on the items that both judged."""

    first: str
    second: str
    items: int
    same: ConfidenceInterval | Unmeasured
    """Share of items with the same answer."""
    kappa: ConfidenceInterval | Unmeasured
    """Cohen's."""
    ac1: ConfidenceInterval | Unmeasured


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of all raters on the items that at least two of them judged."""

    items: int
    votes: int
    raters: int
    same: ConfidenceInterval | Unmeasured
    """Share of agreeing pairs of answers."""
    alpha: ConfidenceInterval | Unmeasured
    """Krippendorff's, nominal."""
    alpha_ordinal: ConfidenceInterval | Unmeasured
    """With a tie between the two sides; equal to alpha where there are no ties."""
    fleiss: ConfidenceInterval | Unmeasured
    ac1: ConfidenceInterval | Unmeasured
    """Gwet's, which stays meaningful where nearly all votes go one way."""
    by_pair: tuple[RaterPair, ...]


def rater_agreement(
    votes: Iterable[Vote], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1
) -> RaterAgreement | Unmeasured:
    """Compute every coefficient."""
    own = select_pair_votes(votes)
    raters = raters_in_votes(own)
    if not own:
        return Unmeasured("there is no vote to count")
    if len(raters) < 2:
        return Unmeasured(f"there is only one rater ({raters[0]})")
    categories = 3 if any(vote.winner is None for vote in own) else 2
    codes = _codes(own, raters, categories)
    units = _units(own)
    counts = answer_counts(codes, categories)
    if not len(counts):
        return Unmeasured("no item was judged by two raters")
    compared = units[(codes >= 0).sum(axis=1) > 1]

    def interval(rows: FloatArray, fold: Fold) -> ConfidenceInterval | Unmeasured:
        return bootstrap_interval(sum_rows_by_cluster(rows, compared), fold, samples=samples, seed=seed)

    coincidences, agreements = coincidence_rows(counts), agreement_rows(counts)
    return RaterAgreement(
        len(counts),
        int(counts.sum()),
        len(raters),
        interval(agreements, mean_fold()),
        interval(coincidences, krippendorff_alpha(categories)),
        interval(coincidences, krippendorff_alpha(categories, "ordinal")),
        interval(agreements, fleiss_kappa(categories)),
        interval(agreements, gwet_ac1(categories)),
        _by_pair(codes, units, raters, categories, samples=samples, seed=seed),
    )


def _codes(votes: Iterable[Vote], raters: tuple[str, ...], categories: int) -> AnswerCodes:
    """(items, raters): 0 and the highest code for the two sides, 1 of 3 for a tie, −1 for no answer."""
    own = list(votes)
    items = {item: at for at, item in enumerate(dict.fromkeys((vote.item, vote.pair) for vote in own))}
    columns = {rater: at for at, rater in enumerate(raters)}
    codes = np.full((len(items), len(raters)), -1)
    for vote in own:
        code = 1 if vote.winner is None else (0 if vote.winner == vote.pair[0] else categories - 1)
        codes[items[vote.item, vote.pair], columns[vote.rater]] = code
    return codes


def _units(votes: Iterable[Vote]) -> AnswerCodes:
    """The cluster number of each item, in the order of `_codes`: its document's, or its own."""
    units = {(vote.item, vote.pair): vote.unit for vote in votes}
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units.values()))}
    return np.array([numbers[unit] for unit in units.values()])


def _by_pair(
    codes: AnswerCodes, units: AnswerCodes, raters: tuple[str, ...], categories: int, *, samples: int, seed: int
) -> tuple[RaterPair, ...]:
    pairs = []
    for first, second in combinations(range(len(raters)), 2):
        cells = contingency_rows(codes[:, first], codes[:, second], categories)
        if not len(cells):
            continue
        both = codes[:, [first, second]]
        clusters = units[(both >= 0).all(axis=1)]
        agreements = sum_rows_by_cluster(agreement_rows(answer_counts(both, categories)), clusters)
        same, gwet = (
            bootstrap_interval(agreements, fold, samples=samples, seed=seed)
            for fold in (mean_fold(), gwet_ac1(categories))
        )
        kappa = bootstrap_interval(
            sum_rows_by_cluster(cells, clusters), cohen_kappa(categories), samples=samples, seed=seed
        )
        pairs.append(RaterPair(raters[first], raters[second], len(cells), same, kappa, gwet))
    return tuple(pairs)

"""Rankings with ties: each rater's order of the systems by the votes they won, and whether the ranks differ.

Kruskal and Wallis's test (1952) takes ranks as independent draws. A rater who ranks all systems gives ranks that are
not quite, which makes the test careful: it rejects less often than its level where systems do not differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.human.analysis.preference_rates import win_share
from eval.human.analysis.vote_selection import raters_in_votes, select_pair_votes, systems_in_votes
from eval.human.vote import Vote
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.proportion import CONFIDENCE_LEVEL
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, percentile_interval


@dataclass(frozen=True, slots=True)
class KruskalWallis:
    """Whether groups differ in rank."""

    statistic: float
    """H, corrected for ties."""
    freedom: int
    p_value: float
    """By the χ² approximation."""
    effect: ConfidenceInterval | Unmeasured
    """ε² = H / (n − 1): 0 where the groups are mixed, 1 where they are apart; over resamples within the groups."""
    mean_ranks: Mapping[str, float]
    """Among all values, the smallest is 1."""
    values: int


@dataclass(frozen=True, slots=True)
class MeanRank:
    """A system's mean rank over raters; 1 is the best, and equals share the mean of their ranks."""

    system: str
    mean: ConfidenceInterval | Unmeasured


@dataclass(frozen=True, slots=True)
class RaterRankings:
    """Each rater's ranking, the mean of them, and the test."""

    systems: tuple[MeanRank, ...]
    by_rater: Mapping[str, Mapping[str, float]]
    left_out: tuple[str, ...]
    """Raters who have not seen all systems."""
    test: KruskalWallis | Unmeasured


def rater_rankings(
    votes: Iterable[Vote], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1
) -> RaterRankings | Unmeasured:
    """Every rater ranks the systems by their share of wins in his votes, a tie being half of one."""
    own = select_pair_votes(votes)
    systems = systems_in_votes(own)
    if len(systems) < 2:
        return Unmeasured("there is no vote between two systems")
    shares = {rater: _shares(own, rater) for rater in raters_in_votes(own)}
    complete = {rater: given for rater, given in shares.items() if len(given) == len(systems)}
    if not complete:
        return Unmeasured("no rater has seen all systems, so there is no ranking")
    ranks = {rater: _ranked(given) for rater, given in complete.items()}
    table = np.array([[given[name] for name in systems] for given in ranks.values()])
    chosen = np.random.default_rng(seed).integers(len(table), size=(samples, len(table)))
    means = table[chosen].mean(axis=1)
    found = [MeanRank(name, _mean(table[:, at], means[:, at])) for at, name in enumerate(systems)]
    found.sort(key=lambda one: float(table[:, systems.index(one.system)].mean()))
    test = kruskal_wallis({name: table[:, at] for at, name in enumerate(systems)}, samples=samples, seed=seed)
    return RaterRankings(tuple(found), ranks, tuple(sorted(shares.keys() - complete.keys())), test)


def _mean(ranks: FloatArray, drawn: FloatArray) -> ConfidenceInterval | Unmeasured:
    if len(ranks) < 2:
        return Unmeasured("there is one ranking only, and chance can't be told from one")
    return percentile_interval(float(ranks.mean()), drawn)


def _shares(votes: Iterable[Vote], rater: str) -> dict[str, float]:
    won: defaultdict[str, list[float]] = defaultdict(list)
    for vote in votes:
        if vote.rater == rater:
            for system in vote.pair:
                won[system].append(win_share(vote, system))
    return {system: sum(given) / len(given) for system, given in won.items()}


def _ranked(shares: Mapping[str, float]) -> dict[str, float]:
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    names = sorted(shares)
    ranks = rankdata([-shares[name] for name in names])
    return {name: float(rank) for name, rank in zip(names, ranks, strict=True)}


def kruskal_wallis(
    groups: Mapping[str, Sequence[float] | FloatArray],
    *,
    samples: int = BOOTSTRAP_SAMPLES,
    seed: int = 1,
    level: float = CONFIDENCE_LEVEL,
) -> KruskalWallis | Unmeasured:
    """The test of any ranks or scores by group, or why there is none."""
    from scipy.stats import chi2, rankdata

    sizes = [len(given) for given in groups.values()]
    if len(sizes) < 2 or min(sizes) < 2:
        return Unmeasured("there are fewer than two groups with two values each")
    values = np.concatenate([np.asarray(given, np.float64) for given in groups.values()])
    if np.isnan(values).any():
        return Unmeasured("a value is missing (NaN), so there is no order")
    if not np.ptp(values):
        return Unmeasured("all values are the same, so there is no order")
    statistic = float(_statistic(values[None], sizes)[0])
    chance = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes[:-1]])
    places = [
        start + chance.integers(size, size=(samples, size)) for start, size in zip(starts, sizes, strict=True)
    ]
    tried = _statistic(values[np.concatenate(places, axis=1)], sizes)
    parts = np.split(rankdata(values), starts[1:])
    means = {name: float(part.mean()) for name, part in zip(groups, parts, strict=True)}
    free, number = len(sizes) - 1, len(values)
    effect = percentile_interval(statistic / (number - 1), tried / (number - 1), level=level)
    return KruskalWallis(statistic, free, float(chi2.sf(statistic, free)), effect, means, number)


def _statistic(values: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """H of each row: the spread of the groups' mean ranks over that of all ranks."""
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=1)
    number = values.shape[1]
    middle = (number + 1) / 2
    starts = np.cumsum([0, *sizes[:-1]])
    sums = np.add.reduceat(ranks, starts, axis=1)
    between = (sums**2 / np.asarray(sizes)).sum(axis=1) - number * middle**2
    total = ((ranks - middle) ** 2).sum(axis=1)
    found: FloatArray = np.divide(
        (number - 1) * between, total, out=np.full(len(values), np.nan), where=total > 0
    )
    return found

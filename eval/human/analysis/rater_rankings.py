"""Rankings of the systems by each rater, and a test of whether the ranks differ.

The Kruskal-Wallis test takes ranks as independent draws. The ranks of one rater are not quite independent, which makes
the test conservative: it rejects less often than its level where systems do not differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from eval.human.analysis.preference_rates import win_share
from eval.human.analysis.vote_selection import raters_in_votes, select_pair_votes, systems_in_votes
from eval.human.vote import Vote
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.kruskal_wallis import KruskalWallis, kruskal_wallis
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, percentile_interval


@dataclass(frozen=True, slots=True)
class MeanRank:
    """A system's mean rank over raters; 1 is the best, and tied systems share the mean of their ranks."""

    system: str
    mean: ConfidenceInterval | Unmeasured


@dataclass(frozen=True, slots=True)
class RaterRankings:
    """Each rater's ranking, the mean ranks, and the test."""

    systems: tuple[MeanRank, ...]
    by_rater: Mapping[str, Mapping[str, float]]
    left_out: tuple[str, ...]
    """Raters who have not seen all systems."""
    test: KruskalWallis | Unmeasured


def rater_rankings(
    votes: Iterable[Vote], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1
) -> RaterRankings | Unmeasured:
    """Rank the systems by their share of wins with each rater; a tie is half a win."""
    own = select_pair_votes(votes)
    systems = systems_in_votes(own)
    if len(systems) < 2:
        return Unmeasured("there is no vote between two systems")
    shares = {rater: _win_shares(own, rater) for rater in raters_in_votes(own)}
    complete = {rater: wins for rater, wins in shares.items() if len(wins) == len(systems)}
    if not complete:
        return Unmeasured("no rater has seen all systems, so there is no ranking")
    ranks = {rater: _ranks(wins) for rater, wins in complete.items()}
    table = np.array([[own_ranks[name] for name in systems] for own_ranks in ranks.values()])
    indices = np.random.default_rng(seed).integers(len(table), size=(samples, len(table)))
    means = table[indices].mean(axis=1)
    order = sorted(range(len(systems)), key=lambda at: float(table[:, at].mean()))
    return RaterRankings(
        tuple(MeanRank(systems[at], _mean_interval(table[:, at], means[:, at])) for at in order),
        ranks,
        tuple(sorted(shares.keys() - complete.keys())),
        kruskal_wallis({name: table[:, at] for at, name in enumerate(systems)}, samples=samples, seed=seed),
    )


def _mean_interval(ranks: FloatArray, means: FloatArray) -> ConfidenceInterval | Unmeasured:
    if len(ranks) < 2:
        return Unmeasured("there is only one ranking, too few for an interval")
    return percentile_interval(float(ranks.mean()), means)


def _win_shares(votes: Iterable[Vote], rater: str) -> dict[str, float]:
    won: defaultdict[str, list[float]] = defaultdict(list)
    for vote in votes:
        if vote.rater == rater:
            for system in vote.pair:
                won[system].append(win_share(vote, system))
    return {system: sum(shares) / len(shares) for system, shares in won.items()}


def _ranks(shares: Mapping[str, float]) -> dict[str, float]:
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    names = sorted(shares)
    ranks = rankdata([-shares[name] for name in names])
    return {name: float(rank) for name, rank in zip(names, ranks, strict=True)}

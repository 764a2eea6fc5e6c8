"""Position bias: whether the text shown first is preferred, given which system it is.

If one system was always shown first, a preference for it and a preference for its place are the same votes. So only
pairs of systems that were shown in both orders count, and the test is stratified by pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.statistics.counts import Unmeasured
from eval.statistics.odds_ratio import OddsRatio, clustered_odds_ratio
from eval.statistics.order_test import OrderedRun, varied_strata
from eval.statistics.proportion import CONFIDENCE_LEVEL

UNKNOWN_ORDER = "the order of display is unknown"
ONE_ORDER = "one system was always shown first, so the effects of position and of quality can't be separated"


@dataclass(frozen=True, slots=True)
class PositionEffect:
    """How often the text shown first was preferred, and the odds of winning when shown first."""

    successes: int
    """Votes for the text shown first."""
    trials: int
    """Votes that prefer a text, between systems that were shown in both orders."""
    left_out: int
    """Votes that prefer a text, of unknown order or between systems that were shown in one order only."""
    shown: tuple[tuple[str, int], ...]
    """How often each system was shown first."""
    odds: OddsRatio | Unmeasured
    """Odds of winning when shown first, stratified by pair of systems, so an unbalanced order does not bias them."""

    @property
    def rate(self) -> float:
        """The share of votes for the text shown first; an unbalanced order biases it."""
        return self.successes / self.trials


def position_effect(votes: Iterable[Vote], *, level: float = CONFIDENCE_LEVEL) -> PositionEffect | Unmeasured:
    """Measure position bias among votes that prefer a text."""
    own = select_pair_votes(votes)
    decided = [vote for vote in own if vote.winner]
    ordered = [vote for vote in decided if vote.order == "shown"]
    if not ordered:
        return Unmeasured(UNKNOWN_ORDER if decided else "no vote prefers either text")
    varied = varied_strata(display_runs(ordered))
    counted = [vote for vote in ordered if vote.pair in varied]
    if not counted:
        return Unmeasured(f"in every pair of systems {ONE_ORDER}")
    cells = [
        (_run(vote) if vote.document else number, vote.pair, vote.first == vote.pair[0], vote.winner == vote.pair[0])
        for number, vote in enumerate(counted)
    ]
    return PositionEffect(
        sum(vote.choice == "first" for vote in counted),
        len(counted),
        len(decided) - len(counted),
        tuple(sorted(Counter(vote.first for vote in counted).items())),
        clustered_odds_ratio(cells, level=level),
    )


def display_runs(votes: Sequence[Vote]) -> list[OrderedRun]:
    """Decided votes by order of display: in the document condition one system is first throughout a document."""
    leads: Counter[tuple[tuple[str, str], bool, str]] = Counter()
    for vote in votes:
        key = (vote.pair, vote.first != vote.pair[0], f"{vote.rater} {vote.document or vote.item}")
        leads[key] += 1 if vote.winner == vote.pair[0] else -1
    return [OrderedRun(pair, swapped, lead) for (pair, swapped, _), lead in leads.items()]


def _run(vote: Vote) -> tuple[str, str, tuple[str, str]]:
    """A rater's consecutive passages of one document."""
    return vote.rater, vote.document, vote.pair

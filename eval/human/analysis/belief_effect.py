"""Effect of belief: whether readers prefer the text that they believe a human wrote.

A raw preference for the believed text proves little, since the better text is both preferred and believed. The odds
are therefore compared within strata. Within a pair of systems, belief still correlates with the quality of a passage;
within an item, raters saw the same two texts and differ only in their belief.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.statistics.clustered_proportion import ClusteredProportion, clustered_proportion_by_unit
from eval.statistics.counts import Unmeasured
from eval.statistics.odds_ratio import OddsRatio, clustered_odds_ratio
from eval.statistics.proportion import CONFIDENCE_LEVEL, Proportion, ProportionBounds, proportion


@dataclass(frozen=True, slots=True)
class BeliefEffect:
    """Association between believing that a text is human and preferring it."""

    preferred: Proportion
    """How often the text believed human was preferred, among votes that prefer a text and believe exactly one human."""
    within_pairs: OddsRatio | Unmeasured
    """Odds of preferring a system when its text is believed human, stratified by pair of systems."""
    within_items: OddsRatio | Unmeasured
    """The same, stratified by item."""
    right: Proportion | Unmeasured
    """How often the belief is correct, where the human system is known; votes taken as independent."""
    right_whole: ClusteredProportion | None
    """The same with clustered votes, where an item or document has several."""
    undecided: int
    """Votes that believe both texts or neither human."""
    whole: ClusteredProportion | None = None
    """`preferred` with clustered votes, where an item or document has several."""

    @property
    def interval(self) -> ProportionBounds:
        """The interval to show: clustered where that applies."""
        return self.whole.bounds if self.whole else self.preferred.wilson

    @property
    def shown_p_value(self) -> float:
        """The p-value that matches the interval."""
        return self.whole.p_value if self.whole else self.preferred.p_value


def belief_effect(
    votes: Iterable[Vote], *, human: str = "", level: float = CONFIDENCE_LEVEL
) -> BeliefEffect | Unmeasured:
    """Compute the effect; `human` names the system of human translations, if there is one."""
    own = [vote for vote in select_pair_votes(votes) if vote.believed_human]
    one_sided = [vote for vote in own if vote.believed_human in ("first", "second")]
    decided = [vote for vote in one_sided if vote.winner]
    right = [float(_believed(vote) == vote.winner) for vote in decided]
    found = proportion(int(sum(right)), len(decided), level=level)
    if isinstance(found, Unmeasured):
        return Unmeasured(
            "no vote both prefers a text and believes just one of them human"
            if own
            else "raters were not asked which text a person wrote"
        )
    return BeliefEffect(
        found,
        _within(decided, lambda vote: vote.pair, lambda vote: vote.unit, level=level),
        # Within an item its quality drops out, so raters are independent, unless votes are clustered by document.
        _within(
            decided,
            lambda vote: (vote.item, vote.pair),
            lambda vote: vote.unit if vote.document else (vote.item, vote.rater),
            level=level,
        ),
        *_right(one_sided, human, level=level),
        len(own) - len(one_sided),
        clustered_proportion_by_unit([vote.unit for vote in decided], right, level=level),
    )


def _believed(vote: Vote) -> str:
    return vote.first if vote.believed_human == "first" else vote.second


def _within(
    votes: Sequence[Vote], stratum: Callable[[Vote], Hashable], unit: Callable[[Vote], Hashable], *, level: float
) -> OddsRatio | Unmeasured:
    return clustered_odds_ratio(
        [(unit(vote), stratum(vote), _believed(vote) == vote.pair[0], vote.winner == vote.pair[0]) for vote in votes],
        level=level,
    )


def _right(
    votes: Iterable[Vote], human: str, *, level: float
) -> tuple[Proportion | Unmeasured, ClusteredProportion | None]:
    if not human:
        return Unmeasured("the human system was not named"), None
    relevant = [vote for vote in votes if human in vote.pair]
    if not relevant:
        return Unmeasured(f"no vote says whether a text of {human} was written by a person"), None
    right = [float(_believed(vote) == human) for vote in relevant]
    whole = clustered_proportion_by_unit([vote.unit for vote in relevant], right, level=level)
    return proportion(int(sum(right)), len(relevant), level=level), whole

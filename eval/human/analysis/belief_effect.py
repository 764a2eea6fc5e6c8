"""Whether readers prefer the text that they believe to be human, whoever wrote it.

That the believed text is often preferred proves little: the better text is preferred and believed. So the odds are
compared within strata. Within a pair of systems, belief still goes with what is good in a passage; within an item,
raters saw the same two texts, and only what they believed differs.
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
    """What belief in a human writer goes along with."""

    preferred: Proportion
    """How often the text believed human was preferred, of the votes that are no tie and believe it of one text."""
    within_pairs: OddsRatio | Unmeasured
    """Of preferring a system when its text is believed human against when the other's is: pair of systems by pair."""
    within_items: OddsRatio | Unmeasured
    """The same among raters of the same two texts."""
    right: Proportion | Unmeasured
    """How often the text believed human is the human's, where that is known; votes taken as independent."""
    right_whole: ClusteredProportion | None
    """Of that, where an item or document has several votes."""
    undecided: int
    """Votes that believe it of both texts or of neither."""
    whole: ClusteredProportion | None = None
    """Of `preferred`, where an item, or a document that was read as one, has several votes."""

    @property
    def interval(self) -> ProportionBounds:
        """The one to show: with items as wholes where that makes a difference."""
        return self.whole.bounds if self.whole else self.preferred.wilson

    @property
    def shown_p_value(self) -> float:
        """Of the same test as the interval."""
        return self.whole.p_value if self.whole else self.preferred.p_value


def belief_effect(
    votes: Iterable[Vote], *, human: str = "", level: float = CONFIDENCE_LEVEL
) -> BeliefEffect | Unmeasured:
    """The effect, or why there is none to tell; `human` names the system that is a person, if one is."""
    own = [vote for vote in select_pair_votes(votes) if vote.believed_human]
    one_sided = [vote for vote in own if vote.believed_human in ("first", "second")]
    decided = [vote for vote in one_sided if vote.winner]
    right = [float(_believed(vote) == vote.winner) for vote in decided]
    found = proportion(int(sum(right)), len(decided), level=level)
    if isinstance(found, Unmeasured):
        return Unmeasured(
            "no vote both prefers a text and believes just one of them human"
            if own
            else "nobody was asked which text a person wrote"
        )
    return BeliefEffect(
        found,
        _within(decided, lambda vote: vote.pair, lambda vote: vote.unit, level=level),
        # Within an item its own goodness drops out, so raters are independent there, but for documents read as one.
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
    votes: Sequence[Vote],
    stratum: Callable[[Vote], Hashable],
    unit: Callable[[Vote], Hashable],
    *,
    level: float,
) -> OddsRatio | Unmeasured:
    return clustered_odds_ratio(
        [
            (unit(vote), stratum(vote), _believed(vote) == vote.pair[0], vote.winner == vote.pair[0])
            for vote in votes
        ],
        level=level,
    )


def _right(
    votes: Iterable[Vote], human: str, *, level: float
) -> tuple[Proportion | Unmeasured, ClusteredProportion | None]:
    if not human:
        return Unmeasured("which system is human was not said"), None
    asked = [vote for vote in votes if human in vote.pair]
    if not asked:
        return Unmeasured(f"no vote says whether a text of {human} was written by a person"), None
    right = [float(_believed(vote) == human) for vote in asked]
    whole = clustered_proportion_by_unit([vote.unit for vote in asked], right, level=level)
    return proportion(int(sum(right)), len(asked), level=level), whole

"""Sequential looks with family-wise error control, from votes in the order of their times.

Later votes on the same two texts are not independent of the first, so each item counts once, by its first vote; where
votes are clustered by document, each document counts once.
"""

from __future__ import annotations

from collections.abc import Iterable

from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.statistics.confidence_sequence import SequentialLook, sequential_look_at_wins
from eval.statistics.counts import Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL


def sequential_look(
    votes: Iterable[Vote], system: str, other: str, *, level: float = CONFIDENCE_LEVEL, pairs: int = 1
) -> SequentialLook | Unmeasured:
    """Analyse the votes by time, or in the given order where a time is missing.

    `pairs` is the number of pairs of systems under observation, this one included.
    """
    own = [vote for vote in select_pair_votes(votes) if {vote.first, vote.second} == {system, other} and vote.winner]
    if not own:
        return Unmeasured(f"there is no vote that prefers {system} or {other}")
    if all(vote.at for vote in own):
        own.sort(key=lambda vote: vote.at)
    first_votes = {vote.unit: vote for vote in reversed(own)}
    won = [vote.winner == system for vote in own if first_votes[vote.unit] is vote]
    return sequential_look_at_wins(won, system, other, level=level, pairs=pairs)

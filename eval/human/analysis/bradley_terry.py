"""Bradley-Terry strengths of the systems in a set of votes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from eval.human.analysis.preference_rates import win_share
from eval.human.analysis.vote_selection import select_pair_votes, systems_in_votes
from eval.human.vote import Vote
from eval.statistics.bradley_terry import BradleyTerry, bradley_terry_strengths
from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES


def bradley_terry(
    votes: Iterable[Vote], *, samples: int = BOOTSTRAP_SAMPLES, seed: int = 1, level: float = CONFIDENCE_LEVEL
) -> BradleyTerry | Unmeasured:
    """Fit strengths with cluster-bootstrap intervals; a tie counts as half a win for each system."""
    own = select_pair_votes(votes)
    systems = systems_in_votes(own)
    if len(systems) < 2:
        return Unmeasured("there is no vote between two systems")
    if not any(vote.winner for vote in own):
        return Unmeasured(f"all {len(own):,} votes are ties, so the uncertainty can't be estimated")
    return bradley_terry_strengths(
        systems,
        _win_rows(own, systems),
        votes=len(own),
        items=len({vote.item for vote in own}),
        samples=samples,
        seed=seed,
        level=level,
    )


def _win_rows(votes: Sequence[Vote], systems: Sequence[str]) -> FloatArray:
    """One flattened win matrix per item, or per document where votes are clustered by document."""
    indices = {name: number for number, name in enumerate(systems)}
    units = {unit: number for number, unit in enumerate(dict.fromkeys(vote.unit for vote in votes))}
    rows = np.zeros((len(units), len(systems), len(systems)))
    for vote in votes:
        first, second = vote.pair
        rows[units[vote.unit], indices[first], indices[second]] += win_share(vote, first)
        rows[units[vote.unit], indices[second], indices[first]] += win_share(vote, second)
    return rows.reshape(len(units), -1)

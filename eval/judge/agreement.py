"""Agreement of a judge with human votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from eval.human.analysis.vote_selection import select_pair_votes
from eval.human.vote import Vote
from eval.judge.judgement import Unscored
from eval.judge.pair import winner_of
from eval.statistics.agreement_coefficients import cohen_kappa, contingency_rows
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from eval.statistics.proportion import Proportion, proportion
from eval.statistics.row_bootstrap import BOOTSTRAP_SAMPLES, bootstrap_interval

if TYPE_CHECKING:
    from eval.judge.pair_results import PairJudgements

NO_COMMON_PAIRS = "no human vote is on a judged pair"
_TIE = "a tie"
_Couple: TypeAlias = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class NoHumanVotes:
    """No agreement could be computed, with the reason."""

    why: str = "there are no human votes to compare with"

    def __str__(self) -> str:
        return self.why

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"items": 0, "share": None, "not_applicable": self.why}


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Agreement over the pairs that both the judge and the majority of raters decided."""

    share: Proportion
    kappa: ConfidenceInterval | Unmeasured
    """Cohen's, by which system was preferred."""
    unscored: int
    """Pairs with votes but without a verdict."""
    tied: int
    """Pairs that the judge or the raters called a tie, or on which raters split evenly; left out."""
    votes: int
    raters: int

    def __str__(self) -> str:
        share, bounds = self.share, self.share.wilson
        kappa = "n/a" if isinstance(self.kappa, Unmeasured) else _format_kappa(self.kappa)
        return (
            f"agrees with raters on {share.successes} of {share.trials} pairs, {share.rate:.0%} "
            f"[{bounds.low:.0%}, {bounds.high:.0%}], Cohen's κ {kappa} (votes: {self.votes}, raters: {self.raters}; "
            f"left out: {self.tied} ties, {self.unscored} without a verdict)"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "items": self.share.trials,
            "agreed": self.share.successes,
            "share": self.share.rate,
            "interval": [self.share.wilson.low, self.share.wilson.high],
            "p_value": self.share.p_value,
            **_kappa_dict(self.kappa),
            "unscored": self.unscored,
            "tied": self.tied,
            "votes": self.votes,
            "raters": self.raters,
        }


def _format_kappa(kappa: ConfidenceInterval) -> str:
    return f"{kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}]"


def _kappa_dict(kappa: ConfidenceInterval | Unmeasured) -> dict[str, Any]:
    if isinstance(kappa, Unmeasured):
        return {"kappa": None, "kappa_not_applicable": kappa.why}
    return {"kappa": kappa.value, "kappa_interval": [kappa.low, kappa.high]}


def judge_agreement(judged: PairJudgements, votes: Iterable[Vote]) -> JudgeAgreement | NoHumanVotes:
    """Compare verdicts with the majority vote on each pair, matched by item (or id) and systems."""
    pairs = {_couple(pair.item or pair.id, pair.systems): pair for pair in judged.pairs}
    human = select_pair_votes(votes)
    matched = [vote for vote in human if _couple(vote.item, vote.pair) in pairs]
    if not matched:
        return NoHumanVotes(NO_COMMON_PAIRS) if human else NoHumanVotes()
    majorities = _majorities(matched)
    ours = {couple: winner_of(pairs[couple], judged.verdicts[pairs[couple].id]) for couple in majorities}
    unscored = [couple for couple, one in ours.items() if isinstance(one, Unscored)]
    decided = {couple: str(one) for couple, one in ours.items() if isinstance(one, str) and majorities[couple]}
    theirs = {couple: str(majorities[couple]) for couple in decided}
    share = proportion(sum(theirs[couple] == one for couple, one in decided.items()), len(decided))
    if isinstance(share, Unmeasured):
        return NoHumanVotes("no pair was decided by both the judge and the raters")
    return JudgeAgreement(
        share,
        _kappa(decided, theirs),
        unscored=len(unscored),
        tied=len(majorities) - len(unscored) - len(decided),
        votes=len(matched),
        raters=len({vote.rater for vote in matched}),
    )


def _couple(item: str, systems: tuple[str, str]) -> _Couple:
    return item, frozenset(systems)


def _majorities(votes: Iterable[Vote]) -> dict[_Couple, str | None]:
    """The system that most raters preferred on each pair; None for a tie or an even split."""
    counts: dict[_Couple, Counter[str]] = {}
    for vote in votes:
        counts.setdefault(_couple(vote.item, vote.pair), Counter())[vote.winner or _TIE] += 1
    return {couple: _majority(choices) for couple, choices in counts.items()}


def _majority(choices: Counter[str]) -> str | None:
    (first, most), *others = choices.most_common()
    clear = not others or others[0][1] < most
    return first if clear and first != _TIE else None


def _kappa(ours: Mapping[_Couple, str], theirs: Mapping[_Couple, str]) -> ConfidenceInterval | Unmeasured:
    """Cohen's κ; the two sides of a pair are ordered by name."""
    first, second = (
        np.array([int(winners[couple] != min(couple[1])) for couple in ours]) for winners in (ours, theirs)
    )
    return bootstrap_interval(contingency_rows(first, second, 2), cohen_kappa(2), samples=BOOTSTRAP_SAMPLES, seed=1)

"""Does a judge say what people say? Its agreement with their votes, which stands wherever its verdicts do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
    from eval.human.trial import Trial
    from eval.judge.pair_results import PairJudgements

NO_COMMON_PAIRS = "none of the human votes is on a pair that was judged"
_TIE = "a tie"
_Couple: TypeAlias = tuple[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class NoHumanVotes:
    """There is nothing that the judge could be held against, and why."""

    why: str = "there are no human votes to compare with"

    def __str__(self) -> str:
        return self.why

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"items": 0, "share": None, "not_applicable": self.why}


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Over pairs that both the judge and the majority of their raters decided."""

    share: Proportion
    kappa: ConfidenceInterval | Unmeasured
    """Cohen's, by which system was preferred."""
    unscored: int
    """Pairs with votes that the judge gave no verdict on: neither for nor against it."""
    tied: int
    """Pairs that the judge or the people called a tie, or that split the raters evenly: they are left out."""
    votes: int
    raters: int

    def __str__(self) -> str:
        share, bounds = self.share, self.share.wilson
        kappa = "n/a" if isinstance(self.kappa, Unmeasured) else _told(self.kappa)
        return (
            f"agrees with people on {share.successes} of {share.trials} pairs, {share.rate:.0%} "
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


def _told(kappa: ConfidenceInterval) -> str:
    return f"{kappa.value:.2f} [{kappa.low:.2f}, {kappa.high:.2f}]"


def _kappa_dict(kappa: ConfidenceInterval | Unmeasured) -> dict[str, Any]:
    if isinstance(kappa, Unmeasured):
        return {"kappa": None, "kappa_not_applicable": kappa.why}
    return {"kappa": kappa.value, "kappa_interval": [kappa.low, kappa.high]}


def judge_agreement(judged: PairJudgements, votes: Iterable[Vote]) -> JudgeAgreement | NoHumanVotes:
    """With the majority of the votes on each pair; a vote is on a pair of its item, or id, and of the same systems."""
    pairs = {_couple(pair.item or pair.id, pair.systems): pair for pair in judged.pairs}
    given = select_pair_votes(votes)
    found = [vote for vote in given if _couple(vote.item, vote.pair) in pairs]
    if not found:
        return NoHumanVotes(NO_COMMON_PAIRS) if given else NoHumanVotes()
    people = _majorities(found)
    ours = {couple: winner_of(pairs[couple], judged.verdicts[pairs[couple].id]) for couple in people}
    unscored = [couple for couple, one in ours.items() if isinstance(one, Unscored)]
    decided = {couple: str(one) for couple, one in ours.items() if isinstance(one, str) and people[couple]}
    theirs = {couple: str(people[couple]) for couple in decided}
    share = proportion(sum(theirs[couple] == one for couple, one in decided.items()), len(decided))
    if isinstance(share, Unmeasured):
        return NoHumanVotes("there is no pair that both the judge and the people decided")
    return JudgeAgreement(
        share,
        _kappa(decided, theirs),
        unscored=len(unscored),
        tied=len(people) - len(unscored) - len(decided),
        votes=len(found),
        raters=len({vote.rater for vote in found}),
    )


def votes_by_passage(votes: Iterable[Vote], trial: Trial) -> list[Vote]:
    """The votes of a blind test, named by the passage and no longer by the item: "ch1:12", as in a corpus."""
    passages = {item.id: item.passage for item in trial.items}
    return [replace(vote, item=passages[vote.item]) for vote in votes]


def _couple(item: str, systems: tuple[str, str]) -> _Couple:
    return item, frozenset(systems)


def _majorities(votes: Iterable[Vote]) -> dict[_Couple, str | None]:
    """The system that most raters preferred; None where as many did not, or where a tie came first."""
    counts: dict[_Couple, Counter[str]] = {}
    for vote in votes:
        counts.setdefault(_couple(vote.item, vote.pair), Counter())[vote.winner or _TIE] += 1
    return {couple: _most(found) for couple, found in counts.items()}


def _most(found: Counter[str]) -> str | None:
    (first, most), *others = found.most_common()
    clear = not others or others[0][1] < most
    return first if clear and first != _TIE else None


def _kappa(ours: Mapping[_Couple, str], theirs: Mapping[_Couple, str]) -> ConfidenceInterval | Unmeasured:
    """The two sides of a pair are told apart by their names' order, as among raters."""
    first, second = (
        np.array([int(said[couple] != min(couple[1])) for couple in ours]) for said in (ours, theirs)
    )
    return bootstrap_interval(
        contingency_rows(first, second, 2), cohen_kappa(2), samples=BOOTSTRAP_SAMPLES, seed=1
    )

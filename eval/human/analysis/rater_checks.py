"""Raters whose votes can't be trusted: they prefer shuffled text, contradict themselves, or always take one side.

Three exact tests of each rater, each with its level stated in the flag. They are a screen: an honest rater is flagged
by chance no more often than the levels say, and nobody's votes are dropped; rates without them are shown beside. Where
a rater has seen so little that nothing could be flagged, that is told, and so is spam that was failed without a flag.

- spam: a shuffled copy preferred, or called equal, more often than a slip in twenty explains (binomial, 5%): one of
  one is flagged, one of two is not;
- repeats: another answer to the same pair more often than one time in four (binomial), or than among the other raters'
  repeats (Fisher); the smaller p counts, doubled (1%). Four of four are flagged, whoever else there is;
- side: one place on the page preferred more often than a fair coin does (two-sided, 1%). Sides are balanced for each
  rater, so whoever reads has no reason to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from eval.human.analysis.vote_selection import raters_in_votes, select_pair_votes
from eval.human.vote import SHUFFLED_SYSTEM, Vote
from eval.statistics.clustered_proportion import sign_flip_p_value
from eval.statistics.counts import Unmeasured

RaterCheck: TypeAlias = Literal["spam", "repeats", "side"]

SPAM_SLIP_RATE = 0.05
"""How often someone who reads may miss a spam item."""
REPEAT_CHANGE_RATE = 0.25
"""How often someone who reads may answer otherwise when asked again. Of two literary texts many are nearly alike."""
_ROUNDING = 1e-12
CHECK_LEVELS: dict[RaterCheck, float] = {"spam": 0.05, "repeats": 0.01, "side": 0.01}


@dataclass(frozen=True, slots=True)
class RaterCheckResult:
    """One test of one rater."""

    check: RaterCheck
    failures: int
    trials: int
    p_value: float
    flagged: bool


@dataclass(frozen=True, slots=True)
class RaterReliability:
    """What a rater's votes say of the rater."""

    name: str
    votes: int
    """On pairs."""
    checks: tuple[RaterCheckResult, ...]
    untested: dict[RaterCheck, str]
    """Why a test says nothing."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known of spam that was failed, where it is no reason for a flag."""
        return tuple(
            f"preferred {one.failures} of {one.trials} shuffled texts, or called them equal, which may be a slip "
            f"(p = {one.p_value:.2g})"
            for one in self.checks
            if one.check == "spam" and one.failures and not one.flagged
        )

    @property
    def flagged(self) -> tuple[str, ...]:
        """A sentence for each test that was failed."""
        return tuple(_sentence(one) for one in self.checks if one.flagged)


def check_raters(votes: Iterable[Vote]) -> tuple[RaterReliability, ...]:
    """Every rater by name."""
    own = list(votes)
    pairs = select_pair_votes(own)
    repeats = _repeats(own, pairs)
    return tuple(_checked(name, own, pairs, repeats) for name in raters_in_votes(own))


def flagged_raters(votes: Iterable[Vote]) -> tuple[str, ...]:
    """The names of those who failed a test."""
    return tuple(rater.name for rater in check_raters(votes) if rater.flagged)


def _checked(
    name: str, votes: Sequence[Vote], pairs: Sequence[Vote], repeats: Sequence[tuple[str, bool]]
) -> RaterReliability:
    mine = [vote for vote in pairs if vote.rater == name]
    spam = [vote for vote in votes if vote.kind == "spam" and vote.rater == name]
    every: dict[RaterCheck, RaterCheckResult | Unmeasured] = {
        "spam": _spam(spam),
        "repeats": _contradictions(name, repeats),
        "side": _side(mine),
    }
    tested = tuple(one for one in every.values() if isinstance(one, RaterCheckResult))
    untested = {check: one.why for check, one in every.items() if isinstance(one, Unmeasured)}
    return RaterReliability(name, len(mine), tested, untested)


def _spam(votes: Sequence[Vote]) -> RaterCheckResult | Unmeasured:
    if not votes:
        return Unmeasured("this rater has seen no spam item")
    failures = sum(vote.winner is None or vote.winner == SHUFFLED_SYSTEM for vote in votes)
    return _judged("spam", failures, len(votes), _as_many(failures, len(votes), SPAM_SLIP_RATE))


def _as_many(number: int, trials: int, share: float) -> float:
    """How likely so many or more are."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    return float(binom.sf(number - 1, trials, share))


def _repeats(votes: Iterable[Vote], pairs: Iterable[Vote]) -> list[tuple[str, bool]]:
    """Of each repeat whose first showing has a vote: the rater, and whether the answer changed."""
    before = {(vote.item, vote.rater, vote.pair): vote.winner for vote in pairs}
    return [
        (vote.rater, before[vote.repeats, vote.rater, vote.pair] != vote.winner)
        for vote in votes
        if vote.kind == "repeat" and (vote.repeats, vote.rater, vote.pair) in before
    ]


def _contradictions(name: str, repeats: Sequence[tuple[str, bool]]) -> RaterCheckResult | Unmeasured:
    mine = [changed for rater, changed in repeats if rater == name]
    others = [changed for rater, changed in repeats if rater != name]
    if not mine:
        return Unmeasured("this rater has seen no pair twice")
    if _contradicting(len(mine), len(mine), others) > CHECK_LEVELS["repeats"]:
        return Unmeasured(f"{_pairs(len(mine))} shown twice: too few, whatever the answers")
    return _judged("repeats", sum(mine), len(mine), _contradicting(sum(mine), len(mine), others))


def _contradicting(changed: int, trials: int, others: Sequence[bool]) -> float:
    """How likely someone who reads changes so many: one in four at most, or as the others do."""
    from scipy.stats import hypergeom

    every, both = trials + len(others), changed + sum(others)
    beside = float(hypergeom.sf(changed - 1, every, both, trials)) if others else 1.0
    return min(1.0, 2 * min(_as_many(changed, trials, REPEAT_CHANGE_RATE), beside))


def _pairs(number: int) -> str:
    return "one pair was" if number == 1 else f"{number} pairs were"


def _side(votes: Sequence[Vote]) -> RaterCheckResult | Unmeasured:
    decided = [vote for vote in votes if vote.winner]
    if not decided:
        return Unmeasured("this rater has preferred no text to another")
    first = sum(vote.choice == "first" for vote in decided)
    nets: Counter[tuple[str, tuple[str, str]]] = Counter()
    for vote in decided:
        nets[vote.unit, vote.pair] += 1 if vote.choice == "first" else -1
    if sign_flip_p_value([abs(net) for net in nets.values()]) > CHECK_LEVELS["side"]:
        return Unmeasured(f"{len(decided)} votes prefer a text: too few, whichever side they take")
    # Of single items it is the binomial test. Where documents are read, one system is first in all of a document.
    return _judged(
        "side", max(first, len(decided) - first), len(decided), sign_flip_p_value(list(nets.values()))
    )


def _judged(check: RaterCheck, failures: int, trials: int, p_value: float) -> RaterCheckResult:
    # One of one is as likely as the level itself, and a flag.
    return RaterCheckResult(
        check, failures, trials, min(1.0, p_value), p_value <= CHECK_LEVELS[check] + _ROUNDING
    )


def _sentence(one: RaterCheckResult) -> str:
    what = {
        "spam": f"preferred {one.failures} of {one.trials} shuffled texts, or called them equal "
        f"(p = {one.p_value:.2g} if one in {1 / SPAM_SLIP_RATE:.0f} is a slip)",
        "repeats": f"changed {one.failures} of {one.trials} answers when asked again "
        f"(p = {one.p_value:.2g} if one in {1 / REPEAT_CHANGE_RATE:.0f} may change, or as many as of the other raters)",
        "side": f"took the same side in {one.failures} of {one.trials} votes (p = {one.p_value:.2g} for a fair coin)",
    }
    return f"{what[one.check]}; the limit is {CHECK_LEVELS[one.check]:g}"

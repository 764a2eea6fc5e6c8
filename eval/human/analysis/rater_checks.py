"""Reliability checks of raters: attention items, repeated items and side preference.

Three exact tests of each rater; a flag states its level. They are a screen: a careful rater is flagged by chance no
more often than the levels allow. No votes are dropped; rates without flagged raters are shown in addition. A check with
too few votes to flag anything is reported as such, and so are failed attention items that do not lead to a flag.

- spam (attention items): the shuffled copy is preferred, or called equal, more often than one slip in twenty explains
  (binomial, 5%), on at least two items: a single slip proves nothing.
- repeats: the answer to the same pair changes more often than one time in four (binomial), or more often than among
  the other raters (Fisher). The smaller p-value is doubled (1%). Four of four are flagged, whatever the others do.
- side: systems win more, or less, often when shown first (permutation of the order of display within pairs of systems,
  1%). A rater who saw one system always first is not tested: preferring it is not preferring its side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from eval.human.analysis.position_effect import ONE_ORDER, UNKNOWN_ORDER, display_runs
from eval.human.analysis.vote_selection import raters_in_votes, select_pair_votes
from eval.human.vote import SHUFFLED_SYSTEM, Vote
from eval.statistics.counts import Unmeasured
from eval.statistics.order_test import order_p_value, varied_strata

RaterCheck: TypeAlias = Literal["spam", "repeats", "side"]

SPAM_SLIP_RATE = 0.05
"""How often a careful rater may miss an attention item."""
MIN_SPAM = 2
"""The fewest attention items that can flag a rater."""
REPEAT_CHANGE_RATE = 0.25
"""How often a careful rater may change an answer; many pairs of literary texts are nearly equal in quality."""
CHECK_LEVELS: dict[RaterCheck, float] = {"spam": 0.05, "repeats": 0.01, "side": 0.01}


@dataclass(frozen=True, slots=True)
class RaterCheckResult:
    """Result of one check of one rater."""

    check: RaterCheck
    failures: int
    trials: int
    p_value: float
    flagged: bool


@dataclass(frozen=True, slots=True)
class RaterReliability:
    """All checks of one rater."""

    name: str
    votes: int
    """Votes on pairs."""
    checks: tuple[RaterCheckResult, ...]
    untested: dict[RaterCheck, str]
    """Checks without enough votes, with the reason."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Failed attention items that are too few for a flag."""
        return tuple(
            f"preferred {one.failures} of {one.trials} shuffled texts, or called them equal, which may be a slip "
            f"(p = {one.p_value:.2g})"
            for one in self.checks
            if one.check == "spam" and one.failures and not one.flagged
        )

    @property
    def flagged(self) -> tuple[str, ...]:
        """A sentence for each failed check."""
        return tuple(_sentence(one) for one in self.checks if one.flagged)


def check_raters(votes: Iterable[Vote]) -> tuple[RaterReliability, ...]:
    """Check every rater, in the order of their names."""
    own = list(votes)
    pairs = select_pair_votes(own)
    repeats = _repeats(own, pairs)
    return tuple(_check_rater(name, own, pairs, repeats) for name in raters_in_votes(own))


def flagged_raters(votes: Iterable[Vote]) -> tuple[str, ...]:
    """Names of the raters who failed a check."""
    return tuple(rater.name for rater in check_raters(votes) if rater.flagged)


def _check_rater(
    name: str, votes: Sequence[Vote], pairs: Sequence[Vote], repeats: Sequence[tuple[str, bool]]
) -> RaterReliability:
    rater_pairs = [vote for vote in pairs if vote.rater == name]
    spam = [vote for vote in votes if vote.kind == "spam" and vote.rater == name]
    results: dict[RaterCheck, RaterCheckResult | Unmeasured] = {
        "spam": _spam(spam),
        "repeats": _contradictions(name, repeats),
        "side": _side(rater_pairs),
    }
    tested = tuple(one for one in results.values() if isinstance(one, RaterCheckResult))
    untested = {check: one.why for check, one in results.items() if isinstance(one, Unmeasured)}
    return RaterReliability(name, len(rater_pairs), tested, untested)


def _spam(votes: Sequence[Vote]) -> RaterCheckResult | Unmeasured:
    if len(votes) < MIN_SPAM:
        number = "one attention item" if votes else "no attention item"
        return Unmeasured(f"this rater has seen {number}, and the check needs {MIN_SPAM}")
    failures = sum(vote.winner is None or vote.winner == SHUFFLED_SYSTEM for vote in votes)
    return _result("spam", failures, len(votes), _binomial_tail(failures, len(votes), SPAM_SLIP_RATE))


def _binomial_tail(number: int, trials: int, share: float) -> float:
    """Probability of at least this many failures."""
    from scipy.stats import binom  # type: ignore[import-untyped]

    return float(binom.sf(number - 1, trials, share))


def _repeats(votes: Iterable[Vote], pairs: Iterable[Vote]) -> list[tuple[str, bool]]:
    """The rater of each repeat whose original has a vote, and whether the answer changed."""
    originals = {(vote.item, vote.rater, vote.pair): vote.winner for vote in pairs}
    return [
        (vote.rater, originals[vote.repeats, vote.rater, vote.pair] != vote.winner)
        for vote in votes
        if vote.kind == "repeat" and (vote.repeats, vote.rater, vote.pair) in originals
    ]


def _contradictions(name: str, repeats: Sequence[tuple[str, bool]]) -> RaterCheckResult | Unmeasured:
    mine = [changed for rater, changed in repeats if rater == name]
    others = [changed for rater, changed in repeats if rater != name]
    if not mine:
        return Unmeasured("this rater has seen no pair twice")
    if _change_p_value(len(mine), len(mine), others) > CHECK_LEVELS["repeats"]:
        return Unmeasured(f"{_pairs(len(mine))} shown twice, too few for the check")
    return _result("repeats", sum(mine), len(mine), _change_p_value(sum(mine), len(mine), others))


def _change_p_value(changed: int, trials: int, others: Sequence[bool]) -> float:
    """Probability that a careful rater changes this many answers: at most one in four, or as often as the others."""
    from scipy.stats import hypergeom

    fisher = float(hypergeom.sf(changed - 1, trials + len(others), changed + sum(others), trials)) if others else 1.0
    return min(1.0, 2 * min(_binomial_tail(changed, trials, REPEAT_CHANGE_RATE), fisher))


def _pairs(number: int) -> str:
    return "one pair was" if number == 1 else f"{number} pairs were"


def _side(votes: Sequence[Vote]) -> RaterCheckResult | Unmeasured:
    decided = [vote for vote in votes if vote.winner]
    if not decided:
        return Unmeasured("this rater has preferred no text to another")
    ordered = [vote for vote in decided if vote.order == "shown"]
    if not ordered:
        return Unmeasured(UNKNOWN_ORDER)
    varied = varied_strata(display_runs(ordered))
    counted = [vote for vote in ordered if vote.pair in varied]
    if not counted:
        return Unmeasured(ONE_ORDER)
    runs = display_runs(counted)
    extreme = [replace(run, lead=abs(run.lead) * (-1 if run.swapped else 1)) for run in runs]
    if order_p_value(extreme) > CHECK_LEVELS["side"]:
        return Unmeasured(f"{len(counted)} votes prefer a text, too few for the check")
    first = sum(vote.choice == "first" for vote in counted)
    return _result("side", max(first, len(counted) - first), len(counted), order_p_value(runs))


def _result(check: RaterCheck, failures: int, trials: int, p_value: float) -> RaterCheckResult:
    return RaterCheckResult(check, failures, trials, min(1.0, p_value), p_value <= CHECK_LEVELS[check])


def _sentence(one: RaterCheckResult) -> str:
    what = {
        "spam": f"preferred {one.failures} of {one.trials} shuffled texts, or called them equal "
        f"(p = {one.p_value:.2g} if one in {1 / SPAM_SLIP_RATE:.0f} is a slip)",
        "repeats": f"changed {one.failures} of {one.trials} answers to repeated items "
        f"(p = {one.p_value:.2g} if one in {1 / REPEAT_CHANGE_RATE:.0f} may change, or as many as of the other raters)",
        "side": f"took the same side in {one.failures} of {one.trials} votes "
        f"(p = {one.p_value:.2g} if the side does not matter)",
    }
    return f"{what[one.check]}; the limit is {CHECK_LEVELS[one.check]:g}"

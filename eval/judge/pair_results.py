"""Results of a pairwise judge: tallies, missing verdicts, position bias and agreement with votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from eval.human.vote import Vote
from eval.judge.agreement import JudgeAgreement, NoHumanVotes, judge_agreement
from eval.judge.cost import JudgeCost
from eval.judge.judgement import Judgement, Unscored, UnscoredReason, Verdict
from eval.judge.pair import JudgePair, winner_of
from eval.statistics.counts import Unmeasured
from eval.statistics.proportion import Proportion, ProportionBounds, binomial_p_value, bonett_price_bounds, proportion


@dataclass(frozen=True, slots=True)
class JudgeTally:
    """Wins, ties and missing verdicts between two systems."""

    systems: tuple[str, str]
    wins: tuple[int, int]
    ties: int
    unscored: Mapping[UnscoredReason, int]
    share: Proportion | Unmeasured
    """Share of the first system's wins, without ties and unscored pairs."""


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How often the text shown first was chosen, over both orders of each pair; one half without bias.

    A pair with the same winner in both orders has one first pick of two, so only flips change the share.
    """

    pairs: int
    """Pairs with a choice other than a tie in both orders."""
    flips_to_first: int
    flips_to_second: int
    share: float
    bounds: ProportionBounds
    p_value: float
    """Exact two-sided binomial test of flips to first against flips to second."""


@dataclass(frozen=True, slots=True)
class PairJudgements:
    """Judgements of all pairs by id, combined and by order."""

    pairs: tuple[JudgePair, ...]
    judgements_by_order: Mapping[str, tuple[Judgement, Judgement]]
    """Judgements in the given and in the swapped order; here "first" is the position, not the text."""
    verdicts: Mapping[str, Judgement]
    """Here "first" is the pair's first text, whatever its position."""
    signature: str
    cost: JudgeCost = field(default_factory=JudgeCost)
    agreement: JudgeAgreement | NoHumanVotes = field(default_factory=NoHumanVotes)

    def with_agreement(self, votes: Iterable[Vote]) -> PairJudgements:
        """Return a copy with the agreement with these votes."""
        return replace(self, agreement=judge_agreement(self, votes))

    @property
    def unscored(self) -> Counter[UnscoredReason]:
        """Number of missing verdicts by reason, most frequent first."""
        whys = Counter(one.why for one in self.verdicts.values() if isinstance(one, Unscored))
        return Counter(dict(whys.most_common()))

    def tallies(self) -> tuple[JudgeTally, ...]:
        """One tally for each pair of systems, in order of appearance."""
        couples: dict[frozenset[str], tuple[str, str]] = {}
        outcomes: dict[frozenset[str], list[str | Unscored | None]] = {}
        for pair in self.pairs:
            couple = frozenset(pair.systems)
            couples.setdefault(couple, pair.systems)
            outcomes.setdefault(couple, []).append(winner_of(pair, self.verdicts[pair.id]))
        return tuple(_tally(couples[couple], found) for couple, found in outcomes.items())

    def position_bias(self) -> PositionBias | Unmeasured:
        """Position bias from the two orders of each pair."""
        picks = [
            (one.choice, other.choice)
            for one, other in self.judgements_by_order.values()
            if isinstance(one, Verdict) and isinstance(other, Verdict) and "tie" not in (one.choice, other.choice)
        ]
        if not picks:
            return Unmeasured("no pair has a choice in both orders", self.signature)
        first, second = picks.count(("first", "first")), picks.count(("second", "second"))
        same = len(picks) - first - second
        return PositionBias(
            len(picks),
            first,
            second,
            (first + same / 2) / len(picks),
            # A pair has 0, 1 or 2 first picks, as a vote is a loss, a tie or a win.
            bonett_price_bounds(first, second, same),
            binomial_p_value(first, first + second) if first + second else 1.0,
        )

    def to_dict(self, *, answers: bool = False) -> dict[str, Any]:
        """For JSON; `answers` adds the raw answers."""
        bias = self.position_bias()
        return {
            "signature": self.signature,
            "pairs": len(self.pairs),
            "scored": len(self.pairs) - self.unscored.total(),
            "unscored": dict(self.unscored),
            "systems": [_tally_dict(tally) for tally in self.tallies()],
            "position_bias": {"not_applicable": bias.why} if isinstance(bias, Unmeasured) else _bias_dict(bias),
            "agreement": self.agreement.to_dict(),
            "cost": self.cost.to_dict(),
            "verdicts": [self._verdict_dict(pair, answers=answers) for pair in self.pairs],
        }

    def _verdict_dict(self, pair: JudgePair, *, answers: bool) -> dict[str, Any]:
        verdict = self.verdicts[pair.id]
        scored = isinstance(verdict, Verdict)
        values: dict[str, Any] = {
            "id": pair.id,
            "first": pair.first_system,
            "second": pair.second_system,
            "choice": verdict.choice if isinstance(verdict, Verdict) else None,
            "winner": winner_of(pair, verdict) if scored else None,
            "unscored": verdict.why if isinstance(verdict, Unscored) else None,
        }
        return values | ({"answers": list(verdict.answers)} if answers else {})


def _tally(systems: tuple[str, str], outcomes: list[str | Unscored | None]) -> JudgeTally:
    first, second = (sum(one == name for one in outcomes) for name in systems)
    return JudgeTally(
        systems,
        (first, second),
        ties=sum(one is None for one in outcomes),
        unscored=Counter(one.why for one in outcomes if isinstance(one, Unscored)),
        share=proportion(first, first + second),
    )


def _tally_dict(tally: JudgeTally) -> dict[str, Any]:
    share = tally.share
    values: dict[str, Any] = {
        "systems": list(tally.systems),
        "wins": list(tally.wins),
        "ties": tally.ties,
        "unscored": dict(tally.unscored),
    }
    if isinstance(share, Unmeasured):
        return values | {"share": None, "not_applicable": share.why}
    return values | {"share": share.rate, "interval": [share.wilson.low, share.wilson.high], "p_value": share.p_value}


def _bias_dict(bias: PositionBias) -> dict[str, Any]:
    return {
        "pairs": bias.pairs,
        "flips_to_first": bias.flips_to_first,
        "flips_to_second": bias.flips_to_second,
        "first_picks": bias.share,
        "interval": [bias.bounds.low, bias.bounds.high],
        "p_value": bias.p_value,
    }

"""Adaptive allocation: which item a rater sees next, given all votes so far.

For trials in which a rater sees only some of the items. Attention items and repeats come at the rater's own share.
Otherwise the pair of systems comes first that is least certain: every pair until it has COLD_START votes, then the one
whose mean difference is smallest beside its standard error. Of its items the one with the fewest votes is shown; ties
are broken by the rater's name, so that raters who work at once see different items. The systems of the next item never
depend on who the rater is, so the mean of a pair stays a mean over randomly sampled passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf, sqrt
from statistics import fmean, variance
from typing import TypeAlias

from ape.files.hashing import hash_text
from eval.human.sheet import rater_sheet
from eval.human.trial import Trial, TrialItem
from eval.human.vote import Vote

COLD_START = 5
"""Votes on each pair of systems before its certainty counts."""
_Pair: TypeAlias = tuple[str, str]


def allocated_items(trial: Trial, rater: str, votes: Sequence[Vote]) -> list[str]:
    """The items of a rater so far: those voted on, in order, and the next one unless the rater is done."""
    own = [vote.item for vote in votes if vote.rater == rater]
    following = next_item(trial, rater, votes)
    return [*own, *([following.id] if following else [])]


def next_item(trial: Trial, rater: str, votes: Sequence[Vote]) -> TrialItem | None:
    """The item that the rater sees next; None if the rater has all of theirs."""
    done = {vote.item for vote in votes if vote.rater == rater}
    left = [item for item in trial.items if item.id not in done]
    if not left or (trial.per_rater is not None and len(done) >= trial.per_rater):
        return None
    return _check_item(trial, rater, done) or _least_certain(trial, rater, left, votes)


def _check_item(trial: Trial, rater: str, done: set[str]) -> TrialItem | None:
    """The next attention item or repeat, if it is due: these are spread evenly over the rater's items."""
    checks = [one.item for one in rater_sheet(trial, rater) if one.item.kind != "pair"]
    wanted = len(checks) / len(trial.items) * (len(done) + 1)
    seen = sum(item.id in done for item in checks)
    ready = (item for item in checks if item.id not in done and (item.kind == "spam" or item.repeats in done))
    return next(ready, None) if seen + 0.5 < wanted else None


def _least_certain(trial: Trial, rater: str, left: Sequence[TrialItem], votes: Sequence[Vote]) -> TrialItem:
    fresh = [item for item in left if item.kind == "pair"] or list(left)
    needs = _needs(vote for vote in votes if vote.kind == "pair")
    count = Counter(vote.item for vote in votes)
    return min(
        fresh,
        key=lambda item: (-needs.get(_pair(item), inf), count[item.id], hash_text(f"{trial.id}|{rater}|{item.id}")),
    )


def _needs(votes: Iterable[Vote]) -> Mapping[_Pair, float]:
    """How uncertain each pair of systems is; more votes are needed where the value is larger."""
    differences: dict[_Pair, list[float]] = {}
    for vote in votes:
        first, second = (vote.first, vote.second) if vote.first <= vote.second else (vote.second, vote.first)
        differences.setdefault((first, second), []).append(_difference(vote, first))
    return {pair: _uncertainty(values) for pair, values in differences.items()}


def _uncertainty(values: Sequence[float]) -> float:
    if len(values) < COLD_START:
        return 1e6 - len(values)
    error = sqrt(variance(values) / len(values))
    return error / (abs(fmean(values)) + error) if error else 0.0


def _difference(vote: Vote, system: str) -> float:
    """How much the rater prefers a system: the difference of the scores, or 1, 0 or −1."""
    sign = 1 if vote.first == system else -1
    if vote.scores:
        return sign * (vote.scores["first"] - vote.scores["second"])
    return float(sign * {"first": 1, "tie": 0, "second": -1}[vote.choice])


def _pair(item: TrialItem) -> _Pair:
    first, second = sorted(item.systems)
    return first, second

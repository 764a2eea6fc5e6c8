"""Simulate a panel with cheating raters: who is flagged, and how that changes the rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from eval.human.analysis.preference_rates import Preference, measure_preference
from eval.human.analysis.rater_checks import RaterCheck, check_raters
from eval.human.vote import SHUFFLED_SYSTEM, Choice, TrialItemKind, Vote

RaterBehaviour: TypeAlias = Literal["honest", "noisy", "coin", "first", "tie"]
BEHAVIOURS: tuple[RaterBehaviour, ...] = ("honest", "noisy", "coin", "first", "tie")
CHEATING_BEHAVIOURS: frozenset[RaterBehaviour] = frozenset({"coin", "first", "tie"})
_HONEST: tuple[RaterBehaviour, ...] = ("honest",)
_NOISY: tuple[RaterBehaviour, ...] = ("noisy",)
_CHEATING: tuple[RaterBehaviour, ...] = ("coin", "first", "tie")
# How often an honest rater fails a spam item, and how often a noisy rater votes at random.
_SLIP = 0.02
_NOISE = 0.3


def measure_flag_rates(
    *, rounds: int, seed: int, items: int = 100, spam: int = 10, repeats: int = 10
) -> dict[RaterBehaviour, tuple[float, Counter[RaterCheck]]]:
    """Share of flagged raters by behaviour, and the checks that flag them.

    Eight raters are honest, four noisy, and three cheat.
    """
    chance = np.random.default_rng(seed)
    flagged: Counter[str] = Counter()
    by: dict[str, Counter[RaterCheck]] = {behaviour: Counter() for behaviour in BEHAVIOURS}
    behaviours = 8 * _HONEST + 4 * _NOISY + _CHEATING
    for _ in range(rounds):
        likings = chance.beta(2, 2, items)
        for rater in check_raters(simulate_panel(behaviours, likings, chance, spam=spam, repeats=repeats)):
            behaviour = rater.name.rpartition("-")[0]
            flagged[behaviour] += bool(rater.flagged)
            by[behaviour].update(one.check for one in rater.checks if one.flagged)
    number = Counter(behaviours)
    return {behaviour: (flagged[behaviour] / (rounds * number[behaviour]), by[behaviour]) for behaviour in BEHAVIOURS}


def coverage_without_flagged(
    rate: float, *, rounds: int, seed: int, items: int = 40, spam: int = 10, repeats: int = 10
) -> tuple[float, float]:
    """How often the interval covers the true rate: with all votes, and without flagged raters.

    Each rater has different items, so votes are independent.
    """
    chance = np.random.default_rng(seed)
    before = after = 0
    for _ in range(rounds):
        votes = simulate_panel(
            6 * _HONEST + _CHEATING, np.full(items, rate), chance, spam=spam, repeats=repeats, shared=False
        )
        bad = {rater.name for rater in check_raters(votes) if rater.flagged}
        before += _holds(votes, rate)
        after += _holds([vote for vote in votes if vote.rater not in bad], rate)
    return before / rounds, after / rounds


def _holds(votes: Sequence[Vote], rate: float) -> bool:
    found = measure_preference(votes, "x", "y")
    return isinstance(found, Preference) and found.interval.low <= rate <= found.interval.high


def simulate_panel(
    behaviours: Sequence[RaterBehaviour],
    likings: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    chance: np.random.Generator,
    *,
    spam: int,
    repeats: int,
    shared: bool = True,
) -> list[Vote]:
    """Simulate votes of raters on a pair for each liking, on spam items, and on repeated pairs.

    An honest rater repeats the answer nine times in ten.
    """
    votes: list[Vote] = []
    for number, behaviour in enumerate(behaviours):
        name, own = f"{behaviour}-{number}", "" if shared else f"{number}/"
        pairs = [_answer(behaviour, liking, chance) for liking in likings]
        votes += [_cast(f"{own}i{at}", name, one, chance) for at, one in enumerate(pairs)]
        for at in range(spam):
            one = _answer("honest" if behaviour == "noisy" else behaviour, 1 - _SLIP, chance)
            votes.append(_cast(f"{own}s{at}", name, one, chance, kind="spam"))
        for at, before in enumerate(pairs[:repeats]):
            steady = behaviour not in CHEATING_BEHAVIOURS and chance.random() < 0.9
            one = before if steady else _answer(behaviour, likings[at], chance)
            votes.append(_cast(f"{own}p{at}", name, one, chance, kind="repeat", of=f"{own}i{at}"))
    return votes


def _answer(behaviour: RaterBehaviour, liking: float, chance: np.random.Generator) -> bool | Choice:
    """Whether the first system wins; or a fixed choice, from raters who do not read."""
    if behaviour == "first" or behaviour == "tie":
        return behaviour
    tossed = behaviour == "coin" or (behaviour == "noisy" and chance.random() < _NOISE)
    return bool(chance.random() < (0.5 if tossed else liking))


def _cast(
    item: str,
    rater: str,
    answer: bool | Choice,
    chance: np.random.Generator,
    *,
    kind: TrialItemKind = "pair",
    of: str = "",
) -> Vote:
    pair = ("x", SHUFFLED_SYSTEM) if kind == "spam" else ("x", "y")
    swapped = bool(chance.random() < 0.5)
    one, other = pair[::-1] if swapped else pair
    choice: Choice = answer if isinstance(answer, str) else ("second" if answer == swapped else "first")
    return Vote(item, rater, one, other, choice, kind=kind, repeats=of)

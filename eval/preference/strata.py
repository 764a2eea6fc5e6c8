"""Two-by-two tables, stratum by stratum: a common odds ratio with its exact conditional test and interval.

Within a stratum the margins are held fixed, so what makes strata differ (the pair of systems, the passage) drops out,
as in Mantel and Haenszel's (1959) test; but the distribution is the exact one (Gart 1970), which small strata need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from eval.metric import Numbers, Unmeasured
from eval.preference.proportion import LEVEL

Table: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
# Counts as likely as ours, but for rounding (as R's fisher.test has it).
_ALIKE = 1 + 1e-7
_WIDEST = 50.0  # of a logarithm of odds, far beyond any that votes can show


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """By how much the odds of the first column are higher in the first row."""

    value: float | None
    """None: all that could fall on one side did, so it is zero or has no bound."""
    low: float
    high: float | None
    """None: there is no upper bound."""
    p_value: float
    """Exact and two-sided: tables that are no likelier than this one."""
    strata: int
    """Those that say something: no margin of theirs is empty."""
    left_out: int
    votes: int
    level: float = LEVEL


def odds_ratio(tables: Sequence[Table], *, level: float = LEVEL) -> OddsRatio | Unmeasured:
    """The conditional estimate over all strata, or why there is none."""
    telling = [
        table for table in map(np.asarray, tables) if table.sum(axis=0).all() and table.sum(axis=1).all()
    ]
    if not telling:
        return Unmeasured("in no stratum do both rows and both columns have a vote")
    lowest, chance = _distribution(telling)
    real = sum(int(table[0, 0]) for table in telling) - lowest
    p_value = min(1.0, float(chance[chance <= chance[real] * _ALIKE].sum()))
    tail = (1 - level) / 2
    last = len(chance) - 1
    low = 0.0 if real == 0 else _solve(lambda tilted: float(tilted[real:].sum()), tail, chance)
    high = None if real == last else _solve(lambda tilted: -float(tilted[: real + 1].sum()), -tail, chance)
    counts = np.arange(last + 1)
    inside = 0 < real < last
    value = _solve(lambda tilted: float(tilted @ counts), float(real), chance) if inside else None
    votes = sum(int(table.sum()) for table in telling)
    return OddsRatio(value, low, high, p_value, len(telling), len(tables) - len(telling), votes, level)


def _distribution(tables: Sequence[Numbers]) -> tuple[int, Numbers]:
    """The smallest sum of first cells, and how likely it and those above it are without any effect."""
    from scipy.stats import hypergeom  # type: ignore[import-untyped]

    lowest, chance = 0, np.ones(1)
    for table in tables:
        total, row, column = int(table.sum()), int(table[0].sum()), int(table[:, 0].sum())
        least, most = max(0, row + column - total), min(row, column)
        lowest += least
        chance = np.convolve(chance, hypergeom.pmf(np.arange(least, most + 1), total, row, column))
    return lowest, chance


def _solve(rising: Callable[[Numbers], float], wanted: float, chance: Numbers) -> float:
    """The odds ratio under which something that rises with it has this value."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    counts = np.arange(len(chance))
    with np.errstate(divide="ignore"):
        known = np.log(chance)

    def short(logarithm: float) -> float:
        weights = known + counts * logarithm
        tilted = np.exp(weights - weights.max())
        return rising(tilted / tilted.sum()) - wanted

    return float(np.exp(brentq(short, -_WIDEST, _WIDEST, xtol=1e-12)))

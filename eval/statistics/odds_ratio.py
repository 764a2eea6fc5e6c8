"""Two-by-two tables, stratum by stratum: a common odds ratio with its exact conditional test and interval.

Within a stratum the margins are held fixed, so what makes strata differ (the pair of systems, the passage) drops out,
as in Mantel and Haenszel's (1959) test; but the distribution is the exact one (Gart 1970), which small strata need.

Votes that go together, as those on one item, are not what that distribution is of. There the ratio is Mantel and
Haenszel's own, and its interval and test are from leaving out one unit after the other (jackknife, Student's t).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL

TwoByTwoTable: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
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
    """Two-sided. Exact: tables that are no likelier than this one; or by Student's t over units."""
    strata: int
    """Those that say something: no margin of theirs is empty."""
    left_out: int
    votes: int
    level: float = CONFIDENCE_LEVEL
    units: int | None = None
    """What was left out in turn, where votes go together."""


def odds_ratio(tables: Sequence[TwoByTwoTable], *, level: float = CONFIDENCE_LEVEL) -> OddsRatio | Unmeasured:
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


def clustered_odds_ratio(
    cells: Sequence[tuple[Hashable, Hashable, bool, bool]], *, level: float = CONFIDENCE_LEVEL
) -> OddsRatio | Unmeasured:
    """The common odds ratio of single votes, each with its unit, its stratum, its row and its column (True: the first).

    Exact where no two votes belong together.
    """
    units = list(dict.fromkeys(unit for unit, *_ in cells))
    strata = list(dict.fromkeys(stratum for _, stratum, *_ in cells))
    place, column = {one: at for at, one in enumerate(units)}, {one: at for at, one in enumerate(strata)}
    tables = np.zeros((len(units), len(strata), 2, 2))
    for unit, stratum, first_row, first_column in cells:
        tables[place[unit], column[stratum], int(not first_row), int(not first_column)] += 1
    whole = tables.sum(axis=0)
    if len(units) == len(cells):
        return odds_ratio(
            [((int(one[0, 0]), int(one[0, 1])), (int(one[1, 0]), int(one[1, 1]))) for one in whole],
            level=level,
        )
    telling = (whole.sum(axis=1) > 0).all(axis=1) & (whole.sum(axis=2) > 0).all(axis=1)
    if not telling.any():
        return Unmeasured("in no stratum do both rows and both columns have a vote")
    return _jackknifed(tables[:, telling], int((~telling).sum()), level=level)


def _jackknifed(tables: FloatArray, left_out: int, *, level: float) -> OddsRatio | Unmeasured:
    from scipy.stats import t as student  # type: ignore[import-untyped]

    tables = tables[tables.sum(axis=(1, 2, 3)) > 0]
    whole, number = tables.sum(axis=0), len(tables)
    value, *others = _mantel_haenszel(np.concatenate([whole[None], whole[None] - tables]))
    if number < 3 or not np.isfinite([value, *others]).all():
        return Unmeasured(
            "votes on one item or document go together, and there are too few of these to tell how sure this is"
        )
    error = float(np.sqrt((number - 1) / number * ((others - np.mean(others)) ** 2).sum()))
    far = float(student.isf((1 - level) / 2, number - 1)) * error
    p_value = float(2 * student.sf(abs(value) / error, number - 1)) if error else float(value == 0)
    low, middle, high = (float(np.exp(end)) for end in (value - far, value, value + far))
    return OddsRatio(middle, low, high, p_value, len(whole), left_out, int(whole.sum()), level, units=number)


def _mantel_haenszel(tables: FloatArray) -> FloatArray:
    """The logarithm of their estimate over strata, for many sets of tables at once; infinite where a side is empty."""
    total = np.maximum(tables.sum(axis=(-2, -1)), 1)
    same = (tables[..., 0, 0] * tables[..., 1, 1] / total).sum(axis=-1)
    other = (tables[..., 0, 1] * tables[..., 1, 0] / total).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: FloatArray = np.log(same) - np.log(other)
    return found


def _distribution(tables: Sequence[FloatArray]) -> tuple[int, FloatArray]:
    """The smallest sum of first cells, and how likely it and those above it are without any effect."""
    from scipy.stats import hypergeom

    lowest, chance = 0, np.ones(1)
    for table in tables:
        total, row, column = int(table.sum()), int(table[0].sum()), int(table[:, 0].sum())
        least, most = max(0, row + column - total), min(row, column)
        lowest += least
        chance = np.convolve(chance, hypergeom.pmf(np.arange(least, most + 1), total, row, column))
    return lowest, chance


def _solve(rising: Callable[[FloatArray], float], wanted: float, chance: FloatArray) -> float:
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

"""Common odds ratio of stratified two-by-two tables, with an exact conditional test and interval.

The margins of each stratum are fixed, so what differs between strata (the pair of systems, the passage) drops out, as
in Mantel and Haenszel's (1959) test; the distribution is the exact one (Gart 1970), which small strata need.

Clustered votes do not follow that distribution. For them the estimate is Mantel and Haenszel's, with a jackknife over
clusters and Student's t for the interval and the test.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from eval.statistics.counts import FloatArray, Unmeasured
from eval.statistics.proportion import CONFIDENCE_LEVEL

TwoByTwoTable: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
# Tolerance for "as likely as the observed table", as in R's fisher.test.
_TOLERANCE = 1 + 1e-7
_MAX_LOG_ODDS = 50.0  # far beyond any value that votes can support
_NO_STRATUM = Unmeasured("in no stratum do both rows and both columns have a vote")


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """Odds of the first column in the first row, relative to the second row."""

    value: float | None
    """None: all votes that could differ fell on one side, so the estimate is zero or infinite."""
    low: float
    high: float | None
    """None: no upper bound."""
    p_value: float
    """Two-sided: exact, or by Student's t over clusters."""
    strata: int
    """Informative strata, those without an empty margin."""
    left_out: int
    votes: int
    level: float = CONFIDENCE_LEVEL
    units: int | None = None
    """Number of clusters of the jackknife; None for the exact test."""


def odds_ratio(tables: Sequence[TwoByTwoTable], *, level: float = CONFIDENCE_LEVEL) -> OddsRatio | Unmeasured:
    """Compute the conditional estimate over all strata, with its exact test and interval."""
    informative = [table for table in map(np.asarray, tables) if table.sum(axis=0).all() and table.sum(axis=1).all()]
    if not informative:
        return _NO_STRATUM
    lowest, probability = _null_distribution(informative)
    observed = sum(int(table[0, 0]) for table in informative) - lowest
    p_value = min(1.0, float(probability[probability <= probability[observed] * _TOLERANCE].sum()))
    tail = (1 - level) / 2
    last = len(probability) - 1
    low = 0.0 if observed == 0 else _solve(lambda tilted: float(tilted[observed:].sum()), tail, probability)
    high = None if observed == last else _solve(lambda tilted: -float(tilted[: observed + 1].sum()), -tail, probability)
    counts = np.arange(last + 1)
    value = _solve(lambda tilted: float(tilted @ counts), float(observed), probability) if 0 < observed < last else None
    votes = sum(int(table.sum()) for table in informative)
    return OddsRatio(value, low, high, p_value, len(informative), len(tables) - len(informative), votes, level)


def clustered_odds_ratio(
    cells: Sequence[tuple[Hashable, Hashable, bool, bool]], *, level: float = CONFIDENCE_LEVEL
) -> OddsRatio | Unmeasured:
    """Compute the common odds ratio of single votes: (cluster, stratum, in the first row, in the first column).

    The exact method is used where every cluster has one vote.
    """
    units = {unit: index for index, unit in enumerate(dict.fromkeys(unit for unit, *_ in cells))}
    strata = {name: index for index, name in enumerate(dict.fromkeys(stratum for _, stratum, *_ in cells))}
    tables = np.zeros((len(units), len(strata), 2, 2))
    for unit, stratum, first_row, first_column in cells:
        tables[units[unit], strata[stratum], int(not first_row), int(not first_column)] += 1
    totals = tables.sum(axis=0)
    if len(units) == len(cells):
        return odds_ratio([((int(a), int(b)), (int(c), int(d))) for (a, b), (c, d) in totals], level=level)
    informative = (totals.sum(axis=1) > 0).all(axis=1) & (totals.sum(axis=2) > 0).all(axis=1)
    if not informative.any():
        return _NO_STRATUM
    return _jackknife(tables[:, informative], int((~informative).sum()), level=level)


def _jackknife(tables: FloatArray, left_out: int, *, level: float) -> OddsRatio | Unmeasured:
    from scipy.stats import t as student  # type: ignore[import-untyped]

    tables = tables[tables.sum(axis=(1, 2, 3)) > 0]
    totals, number = tables.sum(axis=0), len(tables)
    value, *replicates = _log_mantel_haenszel(np.concatenate([totals[None], totals[None] - tables]))
    if number < 3 or not np.isfinite([value, *replicates]).all():
        return Unmeasured(
            "votes are clustered by item or document, and there are too few clusters to estimate the uncertainty"
        )
    error = float(np.sqrt((number - 1) / number * ((replicates - np.mean(replicates)) ** 2).sum()))
    half_width = float(student.isf((1 - level) / 2, number - 1)) * error
    p_value = float(2 * student.sf(abs(value) / error, number - 1)) if error else float(value == 0)
    low, middle, high = (float(np.exp(end)) for end in (value - half_width, value, value + half_width))
    return OddsRatio(middle, low, high, p_value, len(totals), left_out, int(totals.sum()), level, units=number)


def _log_mantel_haenszel(tables: FloatArray) -> FloatArray:
    """Log of the estimate over strata, for many sets of tables; infinite where one diagonal is empty."""
    total = np.maximum(tables.sum(axis=(-2, -1)), 1)
    same = (tables[..., 0, 0] * tables[..., 1, 1] / total).sum(axis=-1)
    other = (tables[..., 0, 1] * tables[..., 1, 0] / total).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate: FloatArray = np.log(same) - np.log(other)
    return estimate


def _null_distribution(tables: Sequence[FloatArray]) -> tuple[int, FloatArray]:
    """The smallest possible sum of first cells, and the null probability of each sum from there on."""
    from scipy.stats import hypergeom

    lowest, probability = 0, np.ones(1)
    for table in tables:
        total, row, column = int(table.sum()), int(table[0].sum()), int(table[:, 0].sum())
        least, most = max(0, row + column - total), min(row, column)
        lowest += least
        probability = np.convolve(probability, hypergeom.pmf(np.arange(least, most + 1), total, row, column))
    return lowest, probability


def _solve(statistic: Callable[[FloatArray], float], target: float, probability: FloatArray) -> float:
    """Find the odds ratio at which a statistic that increases with it reaches the target."""
    from scipy.optimize import brentq  # type: ignore[import-untyped]

    counts = np.arange(len(probability))
    with np.errstate(divide="ignore"):
        logarithms = np.log(probability)

    def excess(log_odds: float) -> float:
        weights = logarithms + counts * log_odds
        tilted = np.exp(weights - weights.max())
        return statistic(tilted / tilted.sum()) - target

    return float(np.exp(brentq(excess, -_MAX_LOG_ODDS, _MAX_LOG_ODDS, xtol=1e-12)))

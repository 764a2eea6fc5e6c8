"""Odds ratios over strata, against scipy for one stratum and by hand for two."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact  # type: ignore[import-untyped]
from scipy.stats.contingency import odds_ratio as theirs  # type: ignore[import-untyped]

from eval.statistics.counts import Unmeasured
from eval.statistics.odds_ratio import OddsRatio, TwoByTwoTable, clustered_odds_ratio, odds_ratio

_CELL = st.integers(1, 15)


@given(_CELL, _CELL, _CELL, _CELL)
@settings(max_examples=25, deadline=None)
def test_one_stratum_is_fishers_test_and_the_conditional_estimate(a: int, b: int, c: int, d: int) -> None:
    found = odds_ratio([((a, b), (c, d))])
    assert isinstance(found, OddsRatio)
    known = theirs([[a, b], [c, d]], kind="conditional")
    ends = known.confidence_interval(0.95)
    assert found.value == pytest.approx(known.statistic, rel=1e-4)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high), rel=1e-3)
    assert found.p_value == pytest.approx(fisher_exact([[a, b], [c, d]]).pvalue, rel=1e-6)


def test_two_strata_by_hand() -> None:
    # Each table has margins of 1: the first cell is 0 or 1, each as likely. Both are 1: a quarter, and so is neither.
    found = odds_ratio([((1, 0), (0, 1)), ((1, 0), (0, 1))])
    assert isinstance(found, OddsRatio)
    assert found.p_value == pytest.approx(0.5)
    assert (found.value, found.high, found.strata) == (None, None, 2)
    # The lower end: odds² / (1 + odds)² = .025.
    assert found.low == pytest.approx(0.025**0.5 / (1 - 0.025**0.5))


def test_simpsons_paradox_is_avoided() -> None:
    # The rows are equal within each stratum and very different when pooled.
    found = odds_ratio([((90, 10), (9, 1)), ((1, 9), (10, 90))])
    assert isinstance(found, OddsRatio)
    assert found.value == pytest.approx(1, abs=0.02)
    assert fisher_exact([[91, 19], [19, 91]]).pvalue < 1e-15


def test_uninformative_strata_are_left_out_and_counted() -> None:
    found = odds_ratio([((3, 1), (1, 3)), ((2, 2), (0, 0))])
    assert isinstance(found, OddsRatio)
    assert (found.strata, found.left_out, found.votes) == (1, 1, 8)
    assert isinstance(odds_ratio([((2, 2), (0, 0))]), Unmeasured)
    assert isinstance(odds_ratio([]), Unmeasured)


def _cells(tables: Sequence[TwoByTwoTable], *, times: int = 1) -> list[tuple[Hashable, Hashable, bool, bool]]:
    """Single votes that make these tables; each vote is repeated `times` times as one cluster."""
    return [
        ((stratum, row, column, number), stratum, row == 0, column == 0)
        for stratum, table in enumerate(tables)
        for row in (0, 1)
        for column in (0, 1)
        for number in range(table[row][column])
        for _ in range(times)
    ]


TABLES: list[TwoByTwoTable] = [((8, 3), (4, 9)), ((5, 5), (2, 7))]


def test_independent_votes_have_the_exact_test() -> None:
    assert clustered_odds_ratio(_cells(TABLES)) == odds_ratio(TABLES)


def test_repeated_votes_do_not_add_evidence() -> None:
    one, four = clustered_odds_ratio(_cells(TABLES)), clustered_odds_ratio(_cells(TABLES, times=4))
    assert isinstance(one, OddsRatio)
    assert isinstance(four, OddsRatio)
    assert four.units == sum(sum(map(sum, table)) for table in TABLES)
    # By hand, Mantel and Haenszel: (8·9/24 + 5·7/19) / (3·4/24 + 5·2/19).
    assert four.value == pytest.approx((72 / 24 + 35 / 19) / (12 / 24 + 10 / 19))
    counted = odds_ratio([((32, 12), (16, 36)), ((20, 20), (8, 28))])
    assert isinstance(counted, OddsRatio)
    assert counted.p_value < 0.001 < 0.01 < four.p_value < 0.1
    assert four.p_value == pytest.approx(one.p_value, abs=0.05)


def test_too_few_units_are_unmeasured_with_the_reason() -> None:
    cells = [("d1", "s", True, True), ("d1", "s", False, False), ("d2", "s", True, False), ("d2", "s", False, True)]
    found = clustered_odds_ratio(cells)
    assert isinstance(found, Unmeasured)
    assert "too few" in found.why

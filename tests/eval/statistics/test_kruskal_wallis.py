"""Kruskal-Wallis test against scipy and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kruskal  # type: ignore[import-untyped]

from eval.statistics.counts import Unmeasured
from eval.statistics.kruskal_wallis import KruskalWallis, kruskal_wallis
from eval.statistics.paired_tests import ConfidenceInterval

_SCORES = st.lists(st.integers(0, 9).map(float), min_size=3, max_size=12)


@given(_SCORES, _SCORES, _SCORES)
@settings(max_examples=30, deadline=None)
def test_statistic_and_p_value_match_scipy(first: list[float], second: list[float], third: list[float]) -> None:
    if len({*first, *second, *third}) == 1:
        return
    found = kruskal_wallis({"a": first, "b": second, "c": third}, samples=20)
    assert isinstance(found, KruskalWallis)
    expected = kruskal(first, second, third)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.freedom == 2


def test_separated_groups_by_hand() -> None:
    # Nine values in three blocks, by hand: H = 7.2, of at most 8.
    found = kruskal_wallis({"a": [1, 2, 3], "b": [4, 5, 6], "c": [7, 8, 9]}, samples=100)
    assert isinstance(found, KruskalWallis)
    assert found.statistic == pytest.approx(7.2)
    assert isinstance(found.effect, ConfidenceInterval)
    assert found.effect.value == pytest.approx(0.9)
    assert found.mean_ranks == {"a": 2, "b": 5, "c": 8}


@pytest.mark.parametrize(
    "groups", [{}, {"a": [1.0, 2.0]}, {"a": [1.0], "b": [2.0, 3.0]}, {"a": [1.0] * 2, "b": [1.0] * 2}]
)
def test_too_few_groups_or_equal_values_are_unmeasured(groups: dict[str, list[float]]) -> None:
    assert isinstance(kruskal_wallis(groups), Unmeasured)

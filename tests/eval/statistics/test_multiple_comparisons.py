"""Several systems against a baseline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ape.errors import InputError
from eval.statistics.counts import MetricCounts, Unmeasured, mean_fold
from eval.statistics.multiple_comparisons import compare_with_baseline, holm_correction
from eval.statistics.paired_tests import PairedComparison
from eval.statistics.rank_tests import WilcoxonResult


def counted(shift: float) -> MetricCounts:
    values = np.random.default_rng(1).random(80) + np.random.default_rng(int(shift * 100)).normal(shift, 0.1, 80)
    return MetricCounts(np.column_stack([values, np.ones(80)]), np.arange(80) // 8, mean_fold(), "mean|v:1")


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1, never falling.
    assert holm_correction([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm_correction([0.5, 0.9]) == [1.0, 1.0]
    assert holm_correction([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_holm_keeps_the_order_and_never_makes_a_p_value_smaller(p_values: list[float]) -> None:
    corrected = holm_correction(p_values)
    assert all(before <= after <= 1 for before, after in zip(p_values, corrected, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert list(np.diff(np.array(corrected)[order]) >= 0) == [True] * (len(p_values) - 1)
    assert max(corrected) <= min(1.0, len(p_values) * max(p_values)) + 1e-12


def test_every_system_has_an_interval_and_all_but_the_baseline_a_corrected_p_value() -> None:
    systems = {"base": counted(0.0), "alike": counted(0.01), "better": counted(0.3)}
    found = compare_with_baseline(systems, baseline="base", higher_is_better=True, by="document", samples=400)
    assert list(found) == list(systems)
    assert (found["base"].comparison, found["base"].corrected) == (None, None)
    better = found["better"].comparison
    assert isinstance(better, PairedComparison)
    assert found["better"].corrected == pytest.approx(2 * better.p_value)
    assert found["better"].corrected is not None
    assert found["better"].corrected < 0.05


def test_wilcoxon_p_values_are_corrected_too() -> None:
    systems = {"base": counted(0.0), "alike": counted(0.01), "better": counted(0.3)}
    found = compare_with_baseline(systems, baseline="base", higher_is_better=True, by="document", samples=10)
    ranks = found["better"].ranks
    assert isinstance(ranks, WilcoxonResult)
    # By hand: ten documents, all better: z = 27.5 / √96.25, and r = z / √10.
    assert (ranks.pairs, ranks.ties) == (10, 0)
    assert ranks.z == pytest.approx(27.5 / 96.25**0.5)
    assert ranks.effect == pytest.approx(27.5 / 96.25**0.5 / 10**0.5)
    assert found["better"].ranks_corrected == pytest.approx(2 * ranks.p_value)
    assert found["base"].ranks is None


def test_units_without_scores_have_no_wilcoxon_test() -> None:
    rows = np.array([[1.0, 1.0]] * 4 + [[0.0, 0.0]] * 4)
    one = MetricCounts(rows, np.arange(8), mean_fold(), "mean|v:1")
    found = compare_with_baseline({"a": one, "b": one}, baseline="a", higher_is_better=True, by="segment", samples=10)
    assert found["b"].ranks == Unmeasured("only 4 of 8 have a score of their own in both systems", "mean|v:1")


def test_an_unknown_baseline_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no system called 'mt'"):
        compare_with_baseline({"base": counted(0)}, baseline="mt", higher_is_better=True, by="segment")

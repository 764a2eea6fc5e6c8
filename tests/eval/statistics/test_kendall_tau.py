"""Weighted Kendall's τ-b against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau  # type: ignore[import-untyped]

from eval.statistics.kendall_tau import weighted_kendall_tau


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2), st.integers(0, 3)), min_size=3, max_size=25))
@settings(max_examples=50, deadline=None)
def test_weighted_tau_equals_scipys_on_repeated_rows(rows: list[tuple[int, int, int]]) -> None:
    values, answers, times = (np.array(column) for column in zip(*rows, strict=True))
    ours = float(weighted_kendall_tau(values.astype(float), answers, times[None].astype(float))[0])
    repeated, repeated_answers = np.repeat(values, times), np.repeat(answers, times)
    if len(set(repeated)) < 2 or len(set(repeated_answers)) < 2:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(kendalltau(repeated, repeated_answers).statistic)

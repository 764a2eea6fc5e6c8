"""Proportions of clustered votes, and their sign-flip test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.statistics.clustered_proportion import clustered_proportion, sign_flip_p_value
from eval.statistics.proportion import binomial_p_value


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60))
@settings(max_examples=40, deadline=None)
def test_with_one_vote_per_cluster_the_test_is_binomial(won: list[int]) -> None:
    found = clustered_proportion(list(map(float, won)), [1.0] * len(won))
    assert found.p_value == pytest.approx(binomial_p_value(sum(won), len(won)))


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
@settings(max_examples=40, deadline=None)
def test_sign_flip_test_enumerates_all_signs(nets: list[int]) -> None:
    signs = 1 - 2 * np.indices((2,) * len(nets)).reshape(len(nets), -1)
    sums = np.abs(np.asarray(nets) @ signs)
    assert sign_flip_p_value(nets) == pytest.approx(float((sums >= abs(sum(nets))).mean()))

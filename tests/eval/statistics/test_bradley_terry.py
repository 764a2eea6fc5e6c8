"""Maximum-likelihood fit of Bradley-Terry strengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from eval.statistics.bradley_terry import fit_strengths


@given(arrays(np.int64, (3, 4, 4), elements=st.integers(1, 40)))
@settings(max_examples=30, deadline=None)
def test_expected_wins_equal_observed_wins(counts: NDArray[np.int64]) -> None:
    wins = counts * (1.0 - np.eye(4))
    found = fit_strengths(wins, prior=np.zeros(3))
    chance = 1 / (1 + np.exp(found[:, None, :] - found[:, :, None]))
    expected = ((wins + wins.swapaxes(1, 2)) * chance).sum(axis=2)
    assert expected == pytest.approx(wins.sum(axis=2), rel=1e-6)
    assert found.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-9)

"""The Wilcoxon test against scipy and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon  # type: ignore[import-untyped]

from ape.errors import InputError
from eval.statistics.rank_tests import wilcoxon_pratt


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=10, max_size=60))
@settings(max_examples=30, deadline=None)
def test_wilcoxon_is_scipys_with_pratts_zeros(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    if first == second:
        return
    theirs = wilcoxon(second, first, zero_method="pratt", correction=False, method="asymptotic")
    ours = wilcoxon_pratt(first, second)
    assert abs(ours.z) == pytest.approx(abs(theirs.zstatistic))  # scipy's has the sign of the smaller sum
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert ours.effect == pytest.approx(abs(theirs.zstatistic) / len(pairs) ** 0.5)


def test_wilcoxon_by_hand() -> None:
    # Differences 0, 1, 2, 3: ranks 1 to 4, the zero's is dropped. Sum 9, mean (20 − 2)/4 = 4.5,
    # variance (4·5·9 − 1·2·3)/24 = 7.25.
    found = wilcoxon_pratt([1, 1, 1, 1], [1, 2, 3, 4])
    assert found.z == pytest.approx(4.5 / 7.25**0.5)
    assert found.effect == pytest.approx(4.5 / 7.25**0.5 / 2)
    assert (found.pairs, found.ties) == (4, 1)


def test_wilcoxon_of_equal_scores_has_p_1_and_no_effect() -> None:
    found = wilcoxon_pratt([1.0, 2.0], [1.0, 2.0])
    assert (found.z, found.p_value, found.effect, found.ties) == (0, 1, 0, 2)


@pytest.mark.parametrize("values", [[1.0], [1.0, float("nan"), 2.0]])
def test_unpaired_or_missing_scores_are_refused(values: list[float]) -> None:
    with pytest.raises(InputError):
        wilcoxon_pratt(values, [1.0, 2.0, 3.0])

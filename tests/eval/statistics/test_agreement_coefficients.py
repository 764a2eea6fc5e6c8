"""Agreement coefficients on published examples and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from eval.statistics.agreement_coefficients import (
    agreement_rows,
    answer_counts,
    cohen_kappa,
    coincidence_rows,
    contingency_rows,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
)

# Four observers and twelve units, from "Computing Krippendorff's Alpha-Reliability" (2011); 0 is no answer.
_OBSERVERS = """
1 2 3 3 2 1 4 1 2 0 0 0
1 2 3 3 2 2 4 1 2 5 0 3
0 3 3 3 2 3 4 2 2 5 1 0
1 2 3 3 2 4 4 1 2 5 1 0
"""


# Fourteen raters of ten subjects, five categories: the example in the article on Fleiss' kappa in Wikipedia.
_SUBJECTS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""


def _numbers(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.int_]]:
    return np.array([line.split() for line in text.strip().splitlines()], int)


@pytest.mark.parametrize(("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_krippendorff_alpha_matches_its_published_example(scale: str, published: float) -> None:
    counts = answer_counts(_numbers(_OBSERVERS).T - 1, 5)
    fold = krippendorff_alpha(5, "ordinal" if scale == "ordinal" else "nominal")
    assert float(fold(coincidence_rows(counts).sum(axis=0))) == pytest.approx(published, abs=5e-4)


def test_fleiss_kappa_matches_the_textbook_example() -> None:
    rows = agreement_rows(_numbers(_SUBJECTS).astype(float))
    assert float(fleiss_kappa(5)(rows.sum(axis=0))) == pytest.approx(0.210, abs=5e-4)


def test_cohens_kappa_and_ac1_by_hand() -> None:
    # 20 and 15 agree, 5 and 10 do not: κ = (.7 − .5)/.5. AC1: shares .55 and .45, chance .495, (.7 − .495)/.505.
    first = np.repeat([0, 0, 1, 1], [20, 5, 10, 15])
    second = np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    assert float(cohen_kappa(2)(contingency_rows(first, second, 2).sum(axis=0))) == pytest.approx(0.4)
    rows = agreement_rows(answer_counts(np.column_stack([first, second]), 2))
    assert float(gwet_ac1(2)(rows.sum(axis=0))) == pytest.approx(0.205 / 0.505)


def test_ac1_is_robust_to_skewed_votes_and_kappa_is_not() -> None:
    first = np.repeat([0, 0, 1], [118, 5, 2])
    second = np.repeat([0, 1, 0], [118, 5, 2])
    rows = agreement_rows(answer_counts(np.column_stack([first, second]), 2))
    assert float(cohen_kappa(2)(contingency_rows(first, second, 2).sum(axis=0))) < 0
    assert float(gwet_ac1(2)(rows.sum(axis=0))) > 0.9

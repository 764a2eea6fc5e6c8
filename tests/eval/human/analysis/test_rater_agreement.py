"""Agreement beyond chance: the published examples of each coefficient, and votes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eval.human.analysis.rater_agreement import RaterAgreement, rater_agreement
from eval.human.vote import Choice, Vote
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
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from tests.eval.human.analysis.vote_factory import votes

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
def test_alpha_of_krippendorffs_own_example(scale: str, published: float) -> None:
    counts = answer_counts(_numbers(_OBSERVERS).T - 1, 5)
    fold = krippendorff_alpha(5, "ordinal" if scale == "ordinal" else "nominal")
    assert float(fold(coincidence_rows(counts).sum(axis=0))) == pytest.approx(published, abs=5e-4)


def test_fleiss_kappa_of_the_textbook_example() -> None:
    rows = agreement_rows(_numbers(_SUBJECTS).astype(float))
    assert float(fleiss_kappa(5)(rows.sum(axis=0))) == pytest.approx(0.210, abs=5e-4)


def test_cohens_kappa_and_ac1_by_hand() -> None:
    # 20 and 15 the same, 5 and 10 not: κ = (.7 − .5)/.5. AC1: shares .55 and .45, chance .495, (.7 − .495)/.505.
    first = np.repeat([0, 0, 1, 1], [20, 5, 10, 15])
    second = np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    assert float(cohen_kappa(2)(contingency_rows(first, second, 2).sum(axis=0))) == pytest.approx(0.4)
    rows = agreement_rows(answer_counts(np.column_stack([first, second]), 2))
    assert float(gwet_ac1(2)(rows.sum(axis=0))) == pytest.approx(0.205 / 0.505)


def test_ac1_keeps_its_sense_where_votes_are_skewed_and_kappa_does_not() -> None:
    first = np.repeat([0, 0, 1], [118, 5, 2])
    second = np.repeat([0, 1, 0], [118, 5, 2])
    rows = agreement_rows(answer_counts(np.column_stack([first, second]), 2))
    assert float(cohen_kappa(2)(contingency_rows(first, second, 2).sum(axis=0))) < 0
    assert float(gwet_ac1(2)(rows.sum(axis=0))) > 0.9


def _value(found: ConfidenceInterval | Unmeasured) -> float:
    assert isinstance(found, ConfidenceInterval)
    assert found.low <= found.value <= found.high
    return found.value


def test_raters_agree_on_systems_whatever_the_order_on_the_page() -> None:
    own = [vote for rater in "ab" for vote in votes("xyxyxxyy", rater=rater)]
    own[8:] = [_turned(vote) for vote in own[8:]]
    found = rater_agreement(own, samples=100)
    assert isinstance(found, RaterAgreement)
    assert [_value(one) for one in (found.alpha, found.fleiss, found.ac1, found.same)] == [1, 1, 1, 1]
    (pair,) = found.by_pair
    assert (pair.first, pair.second, pair.items, _value(pair.kappa)) == ("a", "b", 8, 1)


def _turned(vote: Vote) -> Vote:
    """The same answer, with the texts in the other order."""
    choice: Choice = "second" if vote.choice == "first" else "first"
    return replace(vote, first=vote.second, second=vote.first, choice=choice)


def test_a_tie_is_half_way_on_the_ordinal_scale() -> None:
    mild = rater_agreement([*votes("xxxxyyyy", rater="a"), *votes("xxx=yyy=", rater="b")], samples=50)
    harsh = rater_agreement([*votes("xxxxyyyy", rater="a"), *votes("xxxyyyyx", rater="b")], samples=50)
    assert isinstance(mild, RaterAgreement)
    assert isinstance(harsh, RaterAgreement)
    assert _value(mild.alpha_ordinal) > _value(mild.alpha)
    assert _value(harsh.alpha_ordinal) == pytest.approx(_value(harsh.alpha))  # two answers have one distance


def test_by_pair_leaves_out_raters_who_share_no_item() -> None:
    own = [*votes("xy", rater="a"), *votes("xx", rater="b"), *votes("xy", rater="c", start=9)]
    found = rater_agreement(own, samples=20)
    assert isinstance(found, RaterAgreement)
    assert [(one.first, one.second) for one in found.by_pair] == [("a", "b")]
    assert (found.items, found.votes, found.raters) == (2, 4, 3)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "there is no vote to count"),
        ([("a", "xy", 0)], "only one rater"),
        ([("a", "xy", 0), ("b", "xy", 5)], "no item was judged by two raters"),
    ],
)
def test_with_nobody_to_agree_with_there_is_a_reason(lines: list[tuple[str, str, int]], why: str) -> None:
    own = [vote for rater, line, start in lines for vote in votes(line, rater=rater, start=start)]
    found = rater_agreement(own)
    assert isinstance(found, Unmeasured)
    assert why in found.why


def test_where_all_votes_are_the_same_chance_cant_be_told() -> None:
    found = rater_agreement([vote for rater in "ab" for vote in votes("xxxx", rater=rater)], samples=20)
    assert isinstance(found, RaterAgreement)
    assert isinstance(found.alpha, Unmeasured)
    assert isinstance(found.fleiss, Unmeasured)
    assert _value(found.ac1) == 1

"""Inter-rater agreement from votes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.human.analysis.rater_agreement import RaterAgreement, rater_agreement
from eval.human.vote import Choice, Vote
from eval.statistics.counts import Unmeasured
from eval.statistics.paired_tests import ConfidenceInterval
from tests.eval.human.analysis.vote_factory import votes


def _value(found: ConfidenceInterval | Unmeasured) -> float:
    assert isinstance(found, ConfidenceInterval)
    assert found.low <= found.value <= found.high
    return found.value


def test_agreement_is_on_systems_and_not_on_sides() -> None:
    own = [vote for rater in "ab" for vote in votes("xyxyxxyy", rater=rater)]
    own[8:] = [_swapped(vote) for vote in own[8:]]
    found = rater_agreement(own, samples=100)
    assert isinstance(found, RaterAgreement)
    assert [_value(one) for one in (found.alpha, found.fleiss, found.ac1, found.same)] == [1, 1, 1, 1]
    (pair,) = found.by_pair
    assert (pair.first, pair.second, pair.items, _value(pair.kappa)) == ("a", "b", 8, 1)


def _swapped(vote: Vote) -> Vote:
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


def test_pairs_of_raters_without_common_items_are_left_out() -> None:
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
def test_agreement_without_common_items_is_unmeasured(lines: list[tuple[str, str, int]], why: str) -> None:
    own = [vote for rater, line, start in lines for vote in votes(line, rater=rater, start=start)]
    found = rater_agreement(own)
    assert isinstance(found, Unmeasured)
    assert why in found.why


def test_chance_corrected_agreement_of_identical_votes_is_unmeasured() -> None:
    found = rater_agreement([vote for rater in "ab" for vote in votes("xxxx", rater=rater)], samples=20)
    assert isinstance(found, RaterAgreement)
    assert isinstance(found.alpha, Unmeasured)
    assert isinstance(found.fleiss, Unmeasured)
    assert _value(found.ac1) == 1

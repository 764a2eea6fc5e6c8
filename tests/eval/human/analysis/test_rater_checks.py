"""Reliability checks of raters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import fisher_exact  # type: ignore[import-untyped]

from eval.human.analysis.rater_checks import RaterReliability, check_raters, flagged_raters
from eval.human.vote import SHUFFLED_SYSTEM, Vote
from tests.eval.human.analysis.vote_factory import votes


def _spam(line: str, rater: str) -> list[Vote]:
    return [
        replace(vote, item=f"s{vote.item}") for vote in votes(line, rater=rater, second=SHUFFLED_SYSTEM, kind="spam")
    ]


def _repeats(line: str, rater: str) -> list[Vote]:
    return [
        replace(vote, item=f"p{at}", kind="repeat", repeats=vote.item)
        for at, vote in enumerate(votes(line, rater=rater))
    ]


def _rater(own: list[Vote], name: str) -> RaterReliability:
    return next(rater for rater in check_raters(own) if rater.name == name)


def test_preferring_shuffled_texts_is_flagged_by_the_exact_test() -> None:
    found = _rater([*votes("xxyyxxyy"), *_spam("yyxxxxxxxx", "r")], "r")
    (spam,) = (one for one in found.checks if one.check == "spam")
    # By hand: 1 − .95¹⁰ − 10 · .05 · .95⁹
    assert (spam.failures, spam.trials) == (2, 10)
    assert spam.p_value == pytest.approx(0.08614, abs=1e-5)
    assert not found.flagged
    (note,) = found.notes
    assert note.startswith("preferred 2 of 10 shuffled texts, or called them equal, which may be a slip")
    worse = _rater([*votes("xxyyxxyy"), *_spam("yy=xxxxxxx", "r")], "r")
    (sentence,) = worse.flagged
    assert sentence.startswith("preferred 3 of 10 shuffled texts, or called them equal")
    assert sentence.endswith("the limit is 0.05")


def test_changing_more_answers_than_others_is_flagged() -> None:
    others = [vote for rater in "abcd" for vote in (*votes("xxyyxxyyxx", rater=rater), *_repeats("xxyyxxyyxy", rater))]
    own = [*others, *votes("xxyyxxyyxx", rater="z"), *_repeats("yyxxyyyyxx", "z")]
    (check,) = (one for one in _rater(own, "z").checks if one.check == "repeats")
    assert (check.failures, check.trials) == (6, 10)
    fisher = fisher_exact([[6, 4], [4, 36]], alternative="greater").pvalue
    assert check.p_value == pytest.approx(2 * fisher)  # 6 of 10 with a chance of one in four is likelier
    assert flagged_raters(own) == ("z",)


def test_always_choosing_one_side_is_flagged() -> None:
    own = [replace(vote, choice="first") for vote in votes("x" * 12, rater="z")]
    assert flagged_raters([*own, *votes("xxyyxxyyxxyy", rater="a")]) == ("z",)


def test_one_attention_item_flags_nobody() -> None:
    found = _rater([*votes("xxyyxxyy"), *_spam("y", "r")], "r")
    assert found.flagged == ()
    assert found.untested["spam"] == "this rater has seen one attention item, and the check needs 2"
    # One slip in two is likelier than the limit: a note, but no flag. Two of two are flagged.
    one_of_two = _rater([*votes("xxyyxxyy"), *_spam("yx", "r")], "r")
    assert (one_of_two.flagged, len(one_of_two.notes)) == ((), 1)
    assert len(_rater([*votes("xxyyxxyy"), *_spam("yy", "r")], "r").flagged) == 1


@pytest.mark.parametrize("others", ["xxyyx", "xxyyy", ""])
def test_changing_every_answer_is_flagged_whatever_others_did(others: str) -> None:
    own = [*votes("xxyyx", rater="z"), *_repeats("yyxxy", "z")]
    if others:
        own += [*votes("xxyyx", rater="a"), *_repeats(others, "a")]
    (check,) = (one for one in _rater(own, "z").checks if one.check == "repeats")
    assert check.p_value <= 2 * 0.25**5  # twice, as there are two tests
    assert "z" in flagged_raters(own)
    assert "a" not in flagged_raters(own)


def test_untested_checks_have_a_reason() -> None:
    found = _rater(votes("=="), "r")
    assert found.checks == ()
    assert set(found.untested) == {"spam", "repeats", "side"}
    alone = _rater([*votes("xy"), *_repeats("yx", "r")], "r")
    assert alone.untested["repeats"] == "2 pairs were shown twice, too few for the check"
    assert alone.untested["side"] == "2 votes prefer a text, too few for the check"


def test_a_single_rater_is_checked() -> None:
    own = [*votes("xxyyx", rater="z"), *_repeats("xxyyx", "z")]
    (check,) = (one for one in _rater(own, "z").checks if one.check == "repeats")
    assert (check.failures, check.flagged) == (0, False)


def test_a_repeat_without_its_original_is_ignored() -> None:
    own = [*votes("xy", rater="a"), *_repeats("xx", "a"), *_repeats("xx", "b")]
    assert "no pair twice" in _rater(own, "b").untested["repeats"]

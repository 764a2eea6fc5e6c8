"""Ellipsis: whether the output has the omitted verb."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from eval.suites.cai_xiong.cases import CaiXiongCase, CaiXiongVerdict, read_cases
from eval.suites.cai_xiong.ellipsis import ellipsis_evidence, judge_ellipsis


def case(reference: str, context: str, source: str = "So do I.") -> CaiXiongCase:
    return CaiXiongCase("e", "ellipsis", "", "", source, reference, context)


SINGS = case("我也唱歌。", "她喜欢唱歌。")


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("我也爱唱歌。", "right"),
        ("我也唱。", "right"),
        ("我也做。", "wrong"),  # "do" translated literally
        ("我也不。", "wrong"),  # no verb
        ("我也这样。", "undecided"),
        ("我也跳舞。", "undecided"),
    ],
)
def test_a_restored_verb_is_right(output: str, verdict: CaiXiongVerdict) -> None:
    assert judge_ellipsis(SINGS, output) == verdict


def test_shared_function_words_restore_nothing() -> None:
    assert ellipsis_evidence(SINGS).characters == {"唱", "歌"}


def test_a_pro_form_is_right_where_the_reference_has_one() -> None:
    assert judge_ellipsis(case("我也这样。", "她喜欢唱歌。"), "我也一样。") == "right"


def test_a_vocative_restores_nothing() -> None:
    vocative = case("我看见了，安娜。", "安娜，你看见船了吗？", "I did, Anna.")
    assert ellipsis_evidence(vocative).characters == {"看", "见"}
    assert judge_ellipsis(vocative, "我做了，安娜。") == "wrong"


def test_a_reference_that_restores_nothing_leaves_the_case_undecided() -> None:
    assert judge_ellipsis(case("我当然是。", "你很勇敢。"), "我做。") == "undecided"


def test_the_references_are_right_and_damaged_ones_are_not(shared_data: Path) -> None:
    cases = [one for one in read_cases(shared_data / "cai_xiong_en_zh.jsonl") if one.phenomenon == "ellipsis"]
    assert len(cases) == 400
    own = Counter(judge_ellipsis(one, one.reference) for one in cases)
    assert own["right"] >= 0.97 * (own["right"] + own["wrong"])
    assert own["undecided"] <= 0.05 * len(cases)
    literal = Counter(judge_ellipsis(one, _damaged(one)) for one in cases)
    assert literal["right"] <= 0.02 * len(cases)
    assert literal["wrong"] >= 0.9 * len(cases)
    # The translation of another case is right only by chance: "know" and "want" are common.
    others = [one.reference for one in cases]
    random.Random(1).shuffle(others)
    strangers = Counter(judge_ellipsis(one, text) for one, text in zip(cases, others, strict=True))
    assert strangers["right"] <= 0.15 * len(cases)


def _damaged(one: CaiXiongCase) -> str:
    """The reference with "做" instead of the restored verb."""
    from eval.suites.cai_xiong.ellipsis import _PRO_FORM

    evidence = ellipsis_evidence(one)
    text = _PRO_FORM.sub("做", one.reference) if evidence.pro_form else one.reference
    return "".join("做" if character in evidence.characters else character for character in text)

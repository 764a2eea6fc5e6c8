"""Pronouns and connectives: example sentences for each class, and the suite's references."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from eval.suites.cai_xiong.cases import CaiXiongCase, CaiXiongVerdict, read_cases
from eval.suites.cai_xiong.renderings import RENDERINGS, judge_rendering

# A rendering of each class that carries only another sense.
SWAPPED = {
    ("you", "你们"): "你", ("you", "你"): "你们",
    ("they", "它们"): "他们", ("they", "她们"): "它们", ("they", "他们"): "她们",
    ("while", "而"): "当", ("while", "当"): "而", ("as", "因为"): "当", ("as", "当"): "因为",
    ("since", "因为"): "自从", ("since", "既然"): "自从",
    ("though", "虽然"): "但是", ("though", "但是"): "虽然", ("or", "否则"): "或者", ("or", "或者"): "否则",
}  # fmt: skip


def case(word: str, expected: str, source: str = "") -> CaiXiongCase:
    kind = "pronoun" if word in ("you", "they") else "connective"
    return CaiXiongCase("c", "pronoun" if kind == "pronoun" else "connective", word, expected, source, "", "")


@pytest.mark.parametrize(
    ("word", "expected", "output", "verdict"),
    [
        ("you", "你们", "你们饿了吗？", "right"),
        ("you", "你们", "您倆要去哪儿？", "right"),
        ("you", "你们", "你饿了吗？", "wrong"),
        ("you", "你们", "饿了吗？", "undecided"),
        ("you", "你", "您饿了吗？", "right"),
        ("you", "你", "你們饿了吗？", "wrong"),
        ("they", "她们", "她们走了。", "right"),
        ("they", "她们", "他们走了。", "wrong"),
        ("they", "她们", "姐妹俩走了。", "undecided"),
        ("they", "它们", "牠們飞走了。", "right"),
        ("while", "而", "我在干活，你却在睡觉。", "right"),
        ("while", "而", "当我干活的时候你在睡觉。", "wrong"),
        ("while", "而", "我在干活，而且你在睡觉。", "undecided"),
        ("while", "当", "我吃饭时别说话。", "right"),
        ("while", "当", "他当然有时间。", "undecided"),
        ("as", "因为", "由于天黑了，我们回家了。", "right"),
        ("as", "因为", "天黑时，我们回家了。", "wrong"),
        ("as", "当", "我关门的时候听见了。", "right"),
        ("as", "当", "因为我关了门，所以听见了。", "wrong"),
        ("since", "既然", "因为你来了，就坐吧。", "right"),
        ("since", "因为", "自从你来了，我很高兴。", "wrong"),
        ("though", "虽然", "虽然下雨，但是他来了。", "right"),
        ("though", "虽然", "但是下雨了。", "wrong"),
        ("though", "但是", "不过我不信。", "right"),
        ("though", "但是", "尽管我不信。", "wrong"),
        ("though", "但是", "但愿我信。", "undecided"),
        ("or", "否则", "快跑，不然就晚了。", "right"),
        ("or", "否则", "快跑或者晚了。", "wrong"),
        ("or", "或者", "是茶还是咖啡？", "right"),
        ("or", "或者", "或许是茶。", "undecided"),
        ("or", "或者", "否则没有茶。", "wrong"),
    ],
)
def test_a_rendering_is_judged(word: str, expected: str, output: str, verdict: CaiXiongVerdict) -> None:
    assert judge_rendering(case(word, expected), output) == verdict


def test_two_senses_at_once_are_undecided_unless_the_source_explains_both() -> None:
    both = "他们叫它们星星。"
    assert judge_rendering(case("they", "它们", "They shine."), both) == "undecided"
    assert judge_rendering(case("they", "它们", "They call them stars."), both) == "right"


def test_an_unknown_class_is_undecided() -> None:
    assert judge_rendering(case("whereas", "而"), "而我不去。") == "undecided"


@pytest.mark.parametrize("kind", list(RENDERINGS))
def test_every_class_accepts_the_word_it_is_named_after_and_refuses_its_swap(kind: tuple[str, str]) -> None:
    one = case(*kind)
    assert judge_rendering(one, f"{kind[1]}这里，") == "right"
    assert judge_rendering(one, f"{SWAPPED[kind]}这里，") == "wrong"


def test_the_references_are_right_and_swapped_ones_wrong(shared_data: Path) -> None:
    found: dict[tuple[str, str], Counter[CaiXiongVerdict]] = defaultdict(Counter)
    swapped: dict[tuple[str, str], Counter[CaiXiongVerdict]] = defaultdict(Counter)
    for one in read_cases(shared_data / "cai_xiong_en_zh.jsonl"):
        if one.phenomenon != "ellipsis":
            kind = (one.word, one.expected)
            found[kind][judge_rendering(one, one.reference)] += 1
            text = RENDERINGS[kind].accepted.sub(SWAPPED[kind], one.reference)
            swapped[kind][judge_rendering(one, text)] += 1
    assert found.keys() == RENDERINGS.keys()
    for kind, count in found.items():
        assert count["right"] >= 0.97 * (count["right"] + count["wrong"]), kind
        assert count["undecided"] <= 0.05 * count.total(), kind
        after = swapped[kind]
        assert after["right"] <= 0.03 * (after["right"] + after["wrong"]), (kind, after)
        assert after["wrong"] >= 0.9 * after.total(), (kind, after)

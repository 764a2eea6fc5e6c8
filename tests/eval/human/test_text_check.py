"""Check that a trial showed the current texts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ape.errors import InputError
from eval.human.text_check import require_same_texts
from eval.human.trial import Trial, TrialItem, TrialPassage
from tests.eval.compare.comparison_factory import BETTER, MT

IDS = ("north:1", "north:2", "south:1", "south:2")
CURRENT = {"do-nothing": dict(zip(IDS, MT, strict=True)), "better": dict(zip(IDS, BETTER, strict=True))}
PAIR = ("do-nothing", "better")


def trial(*items: TrialItem, document: str = "north") -> Trial:
    passages = (TrialPassage(f"{document}:1", 1), TrialPassage(f"{document}:2", 1), TrialPassage(f"{document}:1-2", 2))
    return Trial("t", "Which?", 1, PAIR, passages, items)


SAME = TrialItem("i1", "north:2", PAIR, ((MT[1],), (BETTER[1],)))
LONG = TrialItem("i2", "north:1-2", PAIR, (MT[:2], BETTER[:2]))
OTHER = TrialItem("i3", "north:1", PAIR, ((MT[0],), (BETTER[1],)))


def test_current_texts_pass_by_paragraph_and_by_passage() -> None:
    spaced = replace(SAME, texts=((f" {MT[1]}\n",), (BETTER[1],)))
    require_same_texts(trial(SAME, LONG, spaced), CURRENT, file="t.json")


@pytest.mark.parametrize("item", [OTHER, replace(LONG, texts=(MT[:2], (BETTER[1], BETTER[0])))])
def test_a_text_of_another_paragraph_is_rejected(item: TrialItem) -> None:
    with pytest.raises(
        InputError, match=rf"t.json showed raters another text of 'better', .* item {item.id} \(passage"
    ):
        require_same_texts(trial(SAME, item), CURRENT, file="t.json")


def test_spam_is_not_checked() -> None:
    spam = replace(OTHER, systems=("better", "(shuffled)"), kind="spam")
    require_same_texts(trial(SAME, spam), CURRENT, file="t.json")


def test_other_systems_are_not_checked() -> None:
    require_same_texts(trial(replace(OTHER, systems=("do-nothing", "gone"))), CURRENT, file="t.json")


def test_passages_of_other_sets_are_checked_by_text() -> None:
    elsewhere = replace(SAME, passage="2/north:2")
    require_same_texts(trial(elsewhere, document="2/north"), CURRENT, file="t.json")
    unknown = replace(elsewhere, texts=((MT[1],), ("Nobody wrote this here.",)))
    with pytest.raises(InputError, match="'better'"):
        require_same_texts(trial(unknown, document="2/north"), CURRENT, file="t.json")

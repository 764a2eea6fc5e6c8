"""Votes belong to the texts that people were shown, whatever their systems are called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ape.errors import InputError
from eval.human.text_check import require_same_texts
from eval.human.trial import Trial, TrialItem, TrialPassage
from tests.eval.compare.comparison_factory import BETTER, MT

IDS = ("north:1", "north:2", "south:1", "south:2")
HERE = {"do-nothing": dict(zip(IDS, MT, strict=True)), "better": dict(zip(IDS, BETTER, strict=True))}
PAIR = ("do-nothing", "better")


def trial(*items: TrialItem, document: str = "north") -> Trial:
    passages = (
        TrialPassage(f"{document}:1", 1),
        TrialPassage(f"{document}:2", 1),
        TrialPassage(f"{document}:1-2", 2),
    )
    return Trial("t", "Which?", 1, PAIR, passages, items)


SAME = TrialItem("i1", "north:2", PAIR, ((MT[1],), (BETTER[1],)))
LONG = TrialItem("i2", "north:1-2", PAIR, (MT[:2], BETTER[:2]))
OTHER = TrialItem("i3", "north:1", PAIR, ((MT[0],), (BETTER[1],)))


def test_the_texts_of_the_set_pass_by_paragraph_and_by_document() -> None:
    spaced = replace(SAME, texts=((f" {MT[1]}\n",), (BETTER[1],)))
    require_same_texts(trial(SAME, LONG, spaced), HERE, file="t.json")


@pytest.mark.parametrize("item", [OTHER, replace(LONG, texts=(MT[:2], (BETTER[1], BETTER[0])))])
def test_a_text_that_stands_elsewhere_is_another_text(item: TrialItem) -> None:
    with pytest.raises(
        InputError, match=rf"t.json showed raters another text of 'better', .* item {item.id} \(passage"
    ):
        require_same_texts(trial(SAME, item), HERE, file="t.json")


def test_spam_is_of_no_system() -> None:
    spam = replace(OTHER, systems=("better", "(shuffled)"), kind="spam")
    require_same_texts(trial(SAME, spam), HERE, file="t.json")


def test_of_a_system_that_is_not_here_nothing_is_known() -> None:
    require_same_texts(trial(replace(OTHER, systems=("do-nothing", "gone"))), HERE, file="t.json")


def test_of_several_sets_the_texts_alone_tell() -> None:
    elsewhere = replace(SAME, passage="2/north:2")
    require_same_texts(trial(elsewhere, document="2/north"), HERE, file="t.json")
    unknown = replace(elsewhere, texts=((MT[1],), ("Nobody wrote this here.",)))
    with pytest.raises(InputError, match="'better'"):
        require_same_texts(trial(unknown, document="2/north"), HERE, file="t.json")

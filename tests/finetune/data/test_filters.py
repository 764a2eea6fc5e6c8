"""PAR3's filters, one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ape.errors import InputError
from finetune.data import filters
from finetune.data.paragraph import TrainingParagraph
from finetune.data.recipe import DataRecipe, make_data_recipe
from finetune.data.row_reader import DefaultLanguages, read_training_rows
from finetune.data.sentence_bleu import aggregate_bleu, sentence_bleu
from tests.finetune.data.sample_text import paragraph

RECIPE = DataRecipe()


def versions(
    mt: str, *humans: str, source: str = "Le meunier porta une lanterne derrière l’église."
) -> TrainingParagraph:
    return paragraph(1, source=source, mt=mt, humans=tuple((f"t{n}", text) for n, text in enumerate(humans)))


@pytest.mark.parametrize(
    ("mt", "human", "kept"),
    [
        ("Chapter 1", "CHAPTER ONE, in which a good deal happens", False),
        ("How he left", "XIV", False),
        ("I", "The first of them, which is short enough", False),
        ("I know it.", "I do know it.", True),  # a person, not a number
        ("He nodded.", "He gave a nod.", True),
        ("In this chapter the miller carries a lantern", "In this chapter the miller takes a lantern", True),
    ],
)
def test_only_a_short_side_with_the_marks_of_a_heading_is_dropped(mt: str, human: str, kept: bool) -> None:
    assert (filters.drop_short_headings(versions(mt, human), RECIPE) is not None) is kept


@pytest.mark.parametrize(("words", "kept"), [(3, False), (4, True), (36, True), (37, False)])
def test_more_than_three_times_the_words_of_another_side_is_dropped(words: int, kept: bool) -> None:
    one = versions("mill " * 12, "mill " * words, source="moulin " * 12)
    assert (filters.drop_by_length_ratio(one, RECIPE) is not None) is kept


def test_words_of_an_unspaced_source_are_not_counted() -> None:
    one = versions("The miller left.", "The miller went away.", source="磨坊主人在黎明之前就已经离开了")
    assert filters.drop_by_length_ratio(one, RECIPE) is None
    assert filters.drop_by_length_ratio(replace(one, source_language="zh"), RECIPE) is not None


@pytest.mark.parametrize(("source", "mt", "human"), [("…", "A b", "A b"), ("Un", " ", "A b"), ("Un", "A b", "—")])
def test_a_side_without_words_is_empty(source: str, mt: str, human: str) -> None:
    assert filters.drop_empty(versions(mt, human, source=source), RECIPE) is None


def test_a_translation_that_fails_is_left_out_and_the_rest_stays() -> None:
    one = versions("The miller carried a lantern home.", "Nothing of that at all here", "The miller carried a lantern.")
    kept = filters.drop_by_bleu(one, RECIPE)
    assert kept is not None
    assert kept.humans == (one.humans[1],)


def test_the_reference_nearest_to_the_mt_comes_first() -> None:
    one = versions("The miller carried a lantern.", "The miller bore a lamp.", "The miller carried a lantern home.")
    assert filters.put_best_reference_first(one).human == "The miller carried a lantern home."


def test_the_wrong_language_is_dropped_and_a_text_too_short_to_tell_is_not() -> None:
    french, english = paragraph(3).source, paragraph(3).human
    assert filters.drop_wrong_language(versions(french, english), RECIPE) is None
    assert filters.drop_wrong_language(versions(english, french), RECIPE) is None
    assert filters.drop_wrong_language(versions("Oui.", "Oui."), RECIPE) is not None


def test_aggregated_bleu_leaves_out_each_version_in_turn() -> None:
    one = versions("the miller carried a lantern", "the miller carried a lamp", "the miller bore a lantern home")
    (_, first), (_, second) = one.humans
    alone = [sentence_bleu(one.mt, (text,), language="en") for text in (first, second)]
    assert aggregate_bleu(one) == pytest.approx(sum(alone) / 2)
    assert aggregate_bleu(versions(one.mt, first)) == pytest.approx(alone[0])


@pytest.mark.parametrize(("cap", "kept"), [(None, True), (0.5, True), (0.1, False)])
def test_the_edit_rate_is_capped(cap: float | None, kept: bool) -> None:
    one = versions("The miller carried a lantern home.", "The baker carried a lantern home.")  # 1 of 7 tokens
    assert (filters.drop_by_edit_rate(one, DataRecipe(edit_rate=cap)) is not None) is kept


@pytest.mark.parametrize("bad", [{"ratoi": 3}, {"percentiles": (90, 10)}, {"shares": (0.5, 0.1, 0.1)}, {"off": ["x"]}])
def test_a_setting_that_is_none_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="settings"):
        make_data_recipe(bad)


def test_candide_loses_its_headings_as_short(shared_data: Path) -> None:
    path = shared_data / "par3" / "candide_fr.aligned.jsonl"
    found = read_training_rows(path, languages=DefaultLanguages("fr", "en"))
    headings = {one.id for one in found if one.source.startswith("Chapitre")}
    dropped = {one.id for one in found if filters.drop_short_headings(one, DataRecipe()) is None}
    assert (len(found), len(headings)) == (306, 30)
    assert headings <= dropped
    assert len(dropped) < len(headings) + 5

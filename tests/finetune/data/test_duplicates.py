"""Exact and near duplicates."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from finetune.data.duplicates import (
    NearDuplicateIndex,
    drop_duplicates,
    drop_near_duplicates,
    drop_overlapping,
    jaccard,
    shingles,
)
from tests.finetune.data.sample_text import paragraph, paragraphs


def plain_jaccard(one: str, other: str) -> float:
    """Jaccard similarity by definition, on sets of strings."""
    first, second = ({text[i : i + 5] for i in range(len(text) - 4)} for text in (one, other))
    return len(first & second) / len(first | second)


def test_jaccard_of_hashes_is_that_of_the_strings() -> None:
    texts = [" ".join(paragraph(n).source.casefold().replace(".", "").replace("’", " ").split()) for n in range(12)]
    for one, other in combinations(texts, 2):
        assert jaccard(shingles(one), shingles(other)) == plain_jaccard(one, other)


def test_a_changed_word_is_a_near_repeat_and_another_paragraph_is_none() -> None:
    one = paragraph(1)
    index = NearDuplicateIndex(0.8)
    index.add(one.source)
    assert one.source.replace("le ", "les ", 1) in index
    assert one.source.upper() in index
    assert paragraph(2).source not in index


def test_short_texts_are_never_near_repeats() -> None:
    short = [replace(paragraph(n), source="Il fit signe que oui.") for n in range(3)]
    assert drop_near_duplicates(short, likeness=0.8) == short


def test_the_first_of_repeats_stays() -> None:
    one, other = paragraph(1), paragraph(2)
    again = replace(one, id="again", source=one.source.upper(), mt=one.mt + " ")
    assert drop_duplicates([one, other, again]) == [one, other]
    assert drop_near_duplicates([one, other, again], likeness=0.8) == [one, other]


def test_what_is_nearly_on_the_other_side_is_found_by_source_or_by_human_version() -> None:
    train, dev = paragraphs(20), paragraphs(20, start=100)
    by_source = replace(dev[3], id="s", mt="Other.", humans=(("t", "Another text of more than forty characters, so."),))
    by_human = replace(dev[7], id="h", source="Un texte tout autre, de plus de quarante caractères, donc.")
    assert drop_overlapping([*train, by_source, by_human], dev, likeness=0.8) == train


@pytest.mark.parametrize(
    "source",
    [
        "老船长把灯挂在门口，然后一个人走回了雾中的港口。",
        "おばあさんは古い手紙を箱にしまい、誰にも話しませんでした。",
        "늙은 선장은 등불을 문 앞에 걸고 안개 속으로 걸어갔다.",
    ],
)
def test_a_sentence_in_characters_that_say_more_than_letters_is_no_commonplace(source: str) -> None:
    """They are of 24 to 30 characters, and one is left out in the other book."""
    mine = replace(paragraph(1), source=source)
    theirs = replace(paragraph(2), source=source[:8] + source[9:])
    other = replace(paragraph(3), source="他们在春天卖掉了那条船，再也没有谁提起过这件事情。")
    assert drop_overlapping([mine, other], [theirs], likeness=0.8) == [other]
    assert drop_near_duplicates([mine, theirs, other], likeness=0.8) == [mine, other]


def test_the_same_source_with_the_same_mt_is_on_both_sides_however_short() -> None:
    mine, theirs = (replace(paragraph(n), source="他点了点头。", mt="He nodded.") for n in (1, 2))
    assert drop_overlapping([mine], [theirs], likeness=0.8) == []
    other = replace(mine, mt="He nodded his head.")
    assert drop_overlapping([other], [theirs], likeness=0.8) == [other]

"""Forms of one English verb are distinguished from similar words."""

from __future__ import annotations

import pytest

from ape.text.english_verbs import are_forms_of_one_verb, verb_base


@pytest.mark.parametrize(
    ("before", "after", "word_before"),
    [
        ("go", "went", "they"),
        ("gone", "goes", "had"),
        ("think", "thought", "they"),
        ("walk", "walked", "they"),
        ("hope", "hoping", "they"),
        ("stop", "stopped", "they"),
        ("carry", "carried", "they"),
        ("carries", "carrying", "he"),
        ("lie", "lay", "they"),
        ("lay", "laid", "they"),
        ("know", "knows", "dog"),
        ("walk", "walks", "he"),
        ("watch", "watches", "who"),
    ],
)
def test_forms_of_one_verb_are_recognised(before: str, after: str, word_before: str) -> None:
    assert are_forms_of_one_verb(before, after, word_before=word_before)
    assert are_forms_of_one_verb(after, before, word_before=word_before)
    assert verb_base(before) == verb_base(after) or "lay" in (before, after)


@pytest.mark.parametrize(
    ("before", "after", "word_before"),
    [
        ("go", "come", "they"),
        ("found", "thought", "he"),
        ("dog", "dogs", "the"),
        ("walk", "walks", "long"),
        ("nation", "national", "the"),
        ("king", "red", "the"),
        ("bring", "brings", "the"),
        ("contract", "continue", "they"),
        ("", "ing", ""),
    ],
)
def test_other_words_are_not(before: str, after: str, word_before: str) -> None:
    assert not are_forms_of_one_verb(before, after, word_before=word_before)

"""Delimiters and control words are escaped in data and restored in drafts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts import escape_delimiters

DANGEROUS = [
    "<source>", "</source>", "<translation>", "</translation>", "</earlier>", "<GLOSSARY>", "</style >",
    "<verdict>", "</Verdict>", "<errors>", "</errors>",
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<｜end▁of▁sentence｜>", "<s>", "</s>", "<eos>",
    "<SEP>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<think>", "</think>",
]  # fmt: skip


@pytest.mark.parametrize("word", DANGEROUS)
def test_a_control_word_is_escaped_and_restored(word: str) -> None:
    text = f"He typed {word} and waited."
    neutral = escape_delimiters(text)
    assert word not in neutral.text
    assert neutral.restore(neutral.text) == text


@pytest.mark.parametrize("text", ["<i>Home</i>", "a < b and b > c", "[1]", "x | y", "1 <2> 3", "a [sic] b"])
def test_ordinary_brackets_and_mark_up_are_left_alone(text: str) -> None:
    assert escape_delimiters(text).text == text


def test_a_look_alike_in_the_text_is_not_turned_into_a_delimiter() -> None:
    neutral = escape_delimiters("‹source› is not <source>")
    assert neutral.restore("‹source›") == "‹source›"


@given(st.lists(st.one_of(st.text(), st.sampled_from(DANGEROUS))).map("".join))
def test_any_text_is_restored(text: str) -> None:
    neutral = escape_delimiters(text)
    assert not escape_delimiters(neutral.text).replaced
    look_alikes = set("‹›⁅⁆¦")
    if not look_alikes & set(text):
        assert neutral.restore(neutral.text) == text

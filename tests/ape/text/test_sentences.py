"""The sentence splitter splits at sentence ends only and loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.text.sentences import split_sentences
from tests.linear import assert_linear


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He came. She left.", 2),
        ("He came . She left .", 2),
        ("“Why?” he asked. Nobody knew.", 2),
        ("Mr. Brown met Dr. Grey. They talked.", 2),
        ("It cost 3.50 at example.org that day.", 1),
        ("J. R. Green wrote it. I read it.", 2),
        ("Das war am 3. Oktober. Es regnete.", 2),
        ("他来了。她走了！为什么？", 3),
        ("「行こう。」と彼は言った。雨が降っていた。", 3),
        ("वह आया। वह गई।", 2),
        ("هل جاء؟ نعم جاء.", 2),
        ("Он пришёл в 1990 г. и остался. Она ушла.", 2),
        ("Well... maybe not. Yes!", 2),
        ("First line\nSecond line", 2),
        ("", 0),
    ],
)
def test_a_text_is_split_at_sentence_ends(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


@given(st.text(alphabet=st.characters() | st.sampled_from(" .!?…。\n\"'”A"), max_size=200))
def test_joining_the_sentences_gives_the_text_back(text: str) -> None:
    assert "".join(split_sentences(text)) == text


@pytest.mark.parametrize("unit", [".", "?!", ". ", '."', "。", "A. ", "\n", '" '])
def test_marks_are_split_in_time_that_grows_with_their_number(unit: str) -> None:
    assert_linear(lambda size: split_sentences(unit * (size // len(unit))), 2_500)

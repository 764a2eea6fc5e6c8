"""Shuffled copies of texts for attention items."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ape.text.sentences import split_sentences
from eval.human.spam import shuffle_text
from tests.eval.human.trial_factory import a_text

TWENTY = " ".join(f"w{number}" for number in range(20))


def test_words_are_shuffled_except_a_tenth_at_either_end() -> None:
    (copy,) = shuffle_text([TWENTY], Random(1), shuffle="words") or ("",)
    words = copy.split()
    assert words[:2] == ["w0", "w1"]
    assert words[-2:] == ["w18", "w19"]
    assert words != TWENTY.split()
    assert sorted(words) == sorted(TWENTY.split())


def test_sentences_are_shuffled_across_paragraphs_except_the_first_and_the_last() -> None:
    paragraphs = [a_text("one"), a_text("two"), a_text("three")]
    copy = shuffle_text(paragraphs, Random(1), shuffle="sentences")
    assert copy is not None
    before, after = ([s.strip() for text in texts for s in split_sentences(text)] for texts in (paragraphs, copy))
    assert (after[0], after[-1]) == (before[0], before[-1])
    assert after != before
    assert sorted(after) == sorted(before)
    assert [len(split_sentences(text)) for text in copy] == [3, 3, 3]


def test_words_are_shuffled_when_there_are_too_few_sentences() -> None:
    copy = shuffle_text(["Claire put down her bag and sat on the old bench."], Random(1), shuffle="sentences")
    assert copy is not None
    assert copy[0].startswith("Claire ")


def test_text_without_spaces_is_shuffled_by_character() -> None:
    text = "他把灯放在窗边然后走进了厨房里去"
    copy = shuffle_text([text], Random(1), shuffle="words")
    assert copy is not None
    assert " " not in copy[0]
    assert copy[0] != text
    assert sorted(copy[0]) == sorted(text)


def test_a_text_too_short_to_shuffle_gives_none() -> None:
    for text in ("Yes.", "No no no no no.", "…", ""):
        assert shuffle_text([text], Random(1), shuffle="words") is None
        assert shuffle_text([text], Random(1), shuffle="sentences") is None


@given(
    st.lists(st.text(max_size=60), min_size=1, max_size=4), st.sampled_from(["words", "sentences"]), st.integers(0, 9)
)
def test_a_copy_has_the_same_characters_and_number_of_paragraphs(texts: list[str], how: str, seed: int) -> None:
    copy = shuffle_text(texts, Random(seed), shuffle="words" if how == "words" else "sentences")
    if copy is not None:
        assert len(copy) == len(texts)
        assert sorted("".join("".join(copy).split())) == sorted("".join("".join(texts).split()))

"""The first difference of two answers, and whether it is a near-tie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finetune.checks.divergence import NEAR_TIE, classify_margin, first_divergence
from prompts import SEP

END = 0
LETTERS = "abcdefgh"


class Letters:
    """A tokenizer of eight letters and an end."""

    eos_token_id = END

    def decode(self, tokens: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        end = "" if skip_special_tokens else "<end>"
        return "".join(LETTERS[token - 1] if token else end for token in tokens)


ANSWERS = st.lists(st.integers(1, len(LETTERS)), max_size=6).map(lambda tokens: [*tokens, END])
LOGPROBS = st.lists(st.floats(-10, -0.1), min_size=len(LETTERS) + 1, max_size=len(LETTERS) + 1)


@settings(deadline=None)
@given(reference=ANSWERS, served=ANSWERS, logprobs=LOGPROBS)
def test_a_difference_is_at_the_first_other_token_and_of_its_margin(
    reference: list[int], served: list[int], logprobs: list[float]
) -> None:
    if reference == served:
        return
    # Neither is the beginning of the other, since both end.
    place = next(at for at, (one, other) in enumerate(zip(reference, served, strict=False)) if one != other)
    logprobs[reference[place]] = 0.0
    text = Letters().decode(served, skip_special_tokens=True)
    found = first_divergence(Letters(), reference, text, stopped=True, stop=SEP.stop[0], after=lambda _: logprobs)
    margin = -logprobs[served[place]]
    assert found.token == place
    assert found.reference == Letters().decode([reference[place]])
    assert found.served == Letters().decode([served[place]])
    assert found.margin == pytest.approx(margin)
    assert found.kind == ("near_tie" if margin < NEAR_TIE else "real")
    assert found.rank == 1 + sum(logprob > logprobs[served[place]] for logprob in logprobs)


@settings(deadline=None)
@given(st.floats(-1, 20))
def test_only_a_margin_below_the_limit_is_a_near_tie(margin: float) -> None:
    assert (classify_margin(margin) == "near_tie") == (margin < NEAR_TIE)
    assert classify_margin(None) == "real"


@pytest.mark.parametrize(
    ("reference", "served", "stopped", "place"),
    [
        ([1, 2, END], "a", False, 1),  # the served one was cut off
        ([1, 2], "abc", True, 2),  # the other was
        ([1, 2], "abc", False, 2),
    ],
)
def test_an_answer_that_was_cut_off_differs_by_its_length_alone(
    reference: list[int], served: str, stopped: bool, place: int
) -> None:
    found = first_divergence(Letters(), reference, served, stopped=stopped, stop=SEP.stop[0], after=lambda _: [])
    assert (found.kind, found.token) == ("length", place)


def test_a_text_that_is_no_choice_at_all_is_a_real_difference() -> None:
    found = first_divergence(Letters(), [1, END], "?", stopped=True, stop=SEP.stop[0], after=lambda _: [-1.0] * 9)
    assert (found.kind, found.token, found.margin, found.served) == ("real", 0, None, "?")


class Words(Letters):
    """A tokenizer with two words of the same prefix."""

    vocabulary = ("", "fleet", "fleets", " sails", " sail", *"efgh")

    def decode(self, tokens: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        return "".join(self.vocabulary[token] for token in tokens)


def test_a_longer_token_with_the_same_letters_is_found_where_it_was_chosen() -> None:
    logprobs = [-9.0, -0.4, -0.45, -9.0, -9.0, -9.0, -9.0, -9.0, -9.0]

    def after(place: int) -> list[float]:
        return logprobs if place == 0 else [-9.0] * 9

    found = first_divergence(Words(), [1, 3, END], "fleets sails", stopped=True, stop=SEP.stop[0], after=after)
    assert (found.kind, found.token, found.rank) == ("near_tie", 0, 2)
    assert found.margin == pytest.approx(0.05)


class WordsAndEndings(Words):
    """A tokenizer that also has the rest of the longer word."""

    vocabulary = (*Words.vocabulary, "s")


def test_of_two_ways_to_read_a_text_the_likelier_is_taken() -> None:
    """As with " the" for " " and "1": after " ", "th" is unlikely."""
    first = [-9.0, -0.4, -0.45, *[-9.0] * 7]
    second = [-9.0, -9.0, -9.0, -0.1, *[-9.0] * 5, -8.0]
    found = first_divergence(
        WordsAndEndings(),
        [1, 3, END],
        "fleets sails",
        stopped=True,
        stop=SEP.stop[0],
        after=lambda place: (first, second)[place],
    )
    assert (found.kind, found.token, found.rank) == ("near_tie", 0, 2)


def test_a_character_of_several_tokens_is_told_by_the_token_that_differs(tokenizer: Any) -> None:
    """é and è have two bytes each, the first of which is the same."""
    tokens = tokenizer("é", add_special_tokens=False).input_ids
    others = tokenizer("è", add_special_tokens=False).input_ids
    if len(tokens) == 1 or len(others) == 1:
        tokens, others = ([tokenizer.convert_tokens_to_ids(byte) for byte in pair] for pair in ("Ã©", "Ã¨"))
    logprobs = [-9.0] * len(tokenizer)
    logprobs[tokens[1]], logprobs[others[1]] = -0.5, -0.55
    end = tokenizer.eos_token_id
    found = first_divergence(tokenizer, [*tokens, end], "è", stopped=True, stop=SEP.stop[0], after=lambda _: logprobs)
    assert (found.kind, found.token, found.rank) == ("near_tie", 1, 2)
    assert found.margin == pytest.approx(0.05)


def test_a_part_of_a_character_is_not_taken_for_a_whole_one(tokenizer: Any) -> None:
    """Its text is empty and a prefix of everything, so a real difference would look like a near-tie."""
    half = tokenizer.convert_tokens_to_ids("Ã")
    logprobs = [-9.0] * len(tokenizer)
    own = tokenizer.convert_tokens_to_ids("s")
    logprobs[own], logprobs[half] = -0.5, -0.51
    found = first_divergence(
        tokenizer, [own, tokenizer.eos_token_id], "#", stopped=True, stop=SEP.stop[0], after=lambda _: logprobs
    )
    assert found.kind == "real"

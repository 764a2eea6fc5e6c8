"""Loops are found where words follow themselves three times or more, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.loops import ROUNDS, find_loops


@pytest.mark.parametrize(
    ("text", "looped", "period", "rounds"),
    [
        ("He said no, no, no, and left.", "no, no, no", 1, 3),
        ("It was not a reign, nor a reign, nor a reign, nor of time.", "a reign, nor a reign, nor a reign, nor", 3, 3),
        ("The word < unk > < unk > < unk > is Arabic.", "unk > < unk > < unk", 1, 3),
        ("He sees a boat, A BOAT, a boat, a ship.", "a boat, A BOAT, a boat, a", 2, 3.5),
        ("他说好好好好的。", "好好好好", 1, 4),
    ],
)  # fmt: skip
def test_a_loop_is_told_with_its_place_and_rounds(text: str, looped: str, period: int, rounds: float) -> None:
    (loop,) = find_loops(text)
    assert text[slice(*loop.span)] == looped
    assert loop.period == period
    assert loop.rounds == pytest.approx(rounds)


@pytest.mark.parametrize(
    "text",
    ["", "One.", "A very, very old man.", "the cat and the dog and the bird", "12 12", "Again and again and so on."],
)  # fmt: skip
def test_emphasis_and_plain_text_are_none(text: str) -> None:
    assert find_loops(text) == []


@given(st.lists(st.sampled_from("a b c".split()), max_size=30))
def test_loops_are_periodic_apart_and_of_enough_rounds(words: list[str]) -> None:
    text = " ".join(words)
    end = 0
    for loop in find_loops(text):
        said = text[slice(*loop.span)].split()
        assert len(said) == loop.words >= ROUNDS * loop.period
        assert all(said[at] == said[at % loop.period] for at in range(len(said)))
        assert loop.span[0] >= end
        end = loop.span[1]

"""Loops are found in any script and cut by whole rounds only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.text.repetition import MIN_ROUNDS, collapse_loops, find_added_loops, find_loops


@pytest.mark.parametrize(
    ("text", "looped", "period", "rounds"),
    [
        ("He said no, no, no, no, and left.", "no, no, no, no", 1, 4),
        ("It was not a reign, nor a reign, nor a reign, nor of time.", "a reign, nor a reign, nor a reign, nor", 3, 3),
        ("The word < unk > < unk > < unk > < unk > is Arabic.", "unk > < unk > < unk > < unk", 1, 4),
        ("He sees a boat, A BOAT, a boat, a ship.", "a boat, A BOAT, a boat, a", 2, 3.5),
        ("他说好好好好的。", "好好好好", 1, 4),
    ],
)  # fmt: skip
def test_a_loop_is_found_with_its_span_and_rounds(text: str, looped: str, period: int, rounds: float) -> None:
    (loop,) = find_loops(text)
    assert text[slice(*loop.span)] == looped
    assert loop.period == period
    assert loop.rounds == pytest.approx(rounds)


@pytest.mark.parametrize(
    "text",
    ["", "A very, very old man.", "No, no, no!", "a cat and a dog and a hen", "Ha-ha-ha-ha!", "x.org/a/a/a/a"],
)  # fmt: skip
def test_emphasis_and_plain_text_are_not_loops(text: str) -> None:
    assert find_loops(text) == []


@pytest.mark.parametrize("source", ["Hahaha! Il rit.", "하하하! 그가 웃었다.", "Ha, ha, ha, ha! Il rit.", "哈哈哈！"])
def test_repetition_in_the_source_is_not_a_loop_of_the_mt(source: str) -> None:
    assert find_added_loops("Ha ha ha ha! He laughs.", source) == []
    assert find_added_loops("Ha ha ha ha! He laughs.", "Il rit.")


@given(st.lists(st.sampled_from("a b c".split()), max_size=30))
def test_loops_are_periodic_disjoint_and_long_enough(words: list[str]) -> None:
    text = " ".join(words)
    end = 0
    for loop in find_loops(text):
        said = text[slice(*loop.span)].split()
        assert tuple(said) == loop.words
        assert len(said) >= MIN_ROUNDS * loop.period - 1
        assert all(said[at] == said[at % loop.period] for at in range(len(said)))
        assert loop.span[0] >= end
        end = loop.span[1]


@given(st.lists(st.sampled_from("a b c d".split()), max_size=24))
def test_collapsing_loses_no_word_and_adds_no_loop(words: list[str]) -> None:
    text = " ".join(words)
    once = collapse_loops(text, "x y z")
    assert set(once.split()) == set(words)
    gone = sum(len(loop.words) - loop.shortest(()) for loop in find_loops(text))
    assert len(once.split()) == len(words) - gone


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("He bows to the king, to the king, to the king, and goes.", "He bows to the king, and goes."),
        ("It was not a king, nor a king, nor a king, nor a king of old.", "It was not a king of old."),
        ("With his broken, his broken, his broken, his tooth.", "With his broken, his tooth."),
        ("Lord, my lady, my lady, my lady, my lady", "Lord, my lady"),
        ("他说好好好好的。", "他说好的。"),
        ("Nothing to say.", "Nothing to say."),
    ],
)
def test_a_collapsed_text_continues_as_before(text: str, once: str) -> None:
    assert collapse_loops(text, "x y z", joining={"nor"}) == once


@pytest.mark.parametrize(("rounds", "is_loop"), [(4, False), (9, True)])
def test_a_syllable_doubled_in_the_source_may_repeat_a_few_times(rounds: int, is_loop: bool) -> None:
    assert bool(find_added_loops("thump " * rounds, "ドキドキした。")) is is_loop


LOOP = "to the king, to the king, to the king, to the king, to"


@pytest.mark.parametrize(
    ("left", "may"),
    [
        ("to the king", True),
        ("to the king to the king", True),
        ("to the king to", True),  # with the open round at the end
        ("to", False),  # the king is gone
        ("to the king to the", False),
        ("the king", False),
        ("to to to", False),
        ("", False),
        ("to the king to the king to the king to the king to", False),  # nothing is cut
    ],
)
def test_a_loop_is_cut_by_whole_rounds(left: str, may: bool) -> None:
    (loop,) = find_loops(LOOP)
    assert loop.is_shortened_to(left.split(), {"to", "the"}) is may


def test_an_incomplete_round_is_enough_if_it_lacks_only_joining_words() -> None:
    (loop,) = find_loops("very strong, and very strong, and very strong, and very strong.")
    assert loop.is_shortened_to(["very", "strong"], {"and"})
    assert not loop.is_shortened_to(["very", "strong"], set())

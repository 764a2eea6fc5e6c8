"""Examples with artificial repetitions."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from finetune.data.example import Example
from finetune.data.recipe import DataRecipe
from finetune.data.stutter import STUTTER_SUFFIX, insert_stutter, make_stutter_examples
from finetune.data.token_counter import EstimatedTokenCounter

TEXT = "The old man sat down , and nobody said a word to him ."


def example(number: int, text: str = TEXT) -> Example:
    return Example(f"b:{number}", "b", "Der Alte setzte sich .", text, f"{text} Then he left .", "de", "en")


def stuttered(count: int, share: float, tokens: int = 500) -> list[Example]:
    return _made([example(at) for at in range(count)], share, tokens)[0]


def _made(examples: list[Example], share: float, tokens: int = 500) -> tuple[list[Example], list[str]]:
    return make_stutter_examples(examples, share, tokens=tokens, counter=EstimatedTokenCounter(), seed=1)


@given(st.integers(0, 10_000), st.integers(2, 40))
def test_a_stutter_says_words_again_and_nothing_new(seed: int, most: int) -> None:
    made = insert_stutter(TEXT, Random(seed), most=most)
    if made is None:
        return
    before, after = Counter(TEXT.lower().split()), Counter(made.lower().split())
    assert after > before
    assert set(after) == set(before)
    assert max(after[word] - before[word] for word in after) <= most * 8
    assert made.split()[0].lower() == TEXT.split()[0].lower()


def test_a_script_without_spaces_stutters_without_them() -> None:
    made = insert_stutter("他从来没有见过这样的人，也不知道他是谁，从哪里来的。", Random(3), most=5)
    assert made is not None
    assert " " not in made
    assert len(made) > 26


def test_the_share_is_of_all_examples_and_the_text_as_it_was_is_to_be_learnt() -> None:
    made = stuttered(80, 0.2)
    assert len(made) == 20
    for one in made:
        assert one.kind == "stutter"
        assert one.id.endswith(STUTTER_SUFFIX)
        assert one.human in (TEXT, f"{TEXT} Then he left .")
        assert len(one.mt) > len(one.human)
    assert len({one.human for one in made}) == 2  # MT and human version alike


def test_none_is_longer_than_what_is_trained_on() -> None:
    at_most = 40
    made = stuttered(40, 0.5, tokens=at_most)
    assert made
    prompts = [f"{one.source}{one.mt}{one.human}" for one in made]
    assert max(map(len, prompts)) <= 4 * at_most
    assert stuttered(40, 0.5, tokens=10) == []


def test_the_same_seed_gives_the_same_and_no_share_gives_none() -> None:
    assert stuttered(30, 0.3) == stuttered(30, 0.3)
    assert stuttered(30, 0.0) == []
    assert DataRecipe().stutter_share == 0


def test_what_loops_already_is_no_text_to_learn_and_too_few_are_told() -> None:
    looped = "He bows to the king , to the king , to the king , to the king ."
    made, remarks = _made([example(at, looped) for at in range(10)], 0.5)
    assert made == []
    assert remarks == ["10 stutters were wanted (a share of 0.5), and 0 could be made: they are 0% of the 10 examples."]
    assert _made([example(at) for at in range(10)], 0.5)[1] == []

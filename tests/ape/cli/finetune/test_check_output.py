"""Sentences of `ape finetune check`: shortcomings of an adapter, and near-ties, which are none."""

from __future__ import annotations

import pytest

from ape.cli.finetune.check_output import list_shortcomings
from finetune.checks.divergence import TokenDivergence
from finetune.checks.parity import EngineParity, ParityDifference, StopRate

pytestmark = pytest.mark.torch

NEAR = TokenDivergence("near_tie", 3, "cat", "dog", 0.04, 2)
ENDED = StopRate(50, ())


def parity(*whys: TokenDivergence) -> EngineParity:
    differences = tuple(ParityDifference(f"p{number}", "a", "b", why) for number, why in enumerate(whys))
    return EngineParity("a double", 50, 50, differences)


def test_near_ties_are_explained() -> None:
    assert parity(NEAR, NEAR).summary()["near_ties"] == 2
    assert list(list_shortcomings(ENDED, {"embedded": parity(NEAR, NEAR)})) == []


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (TokenDivergence("real", 3, "cat", "dog", 1.5, 4), "choice 4 of transformers, 1.500 below its first"),
        (TokenDivergence("real", 3, "cat", "dog"), "which is not among the best choices of transformers"),
        (TokenDivergence("prompt", 3, "cat", "dog"), "the prompt was tokenized differently"),
        (TokenDivergence("length", 3, "", ""), "one answer was cut off after 3 tokens"),
    ],
)
def test_real_differences_are_reported_with_the_first_of_them(why: TokenDivergence, words: str) -> None:
    (sentence,) = list_shortcomings(ENDED, {"embedded": parity(NEAR, why, why), "vllm": parity(NEAR)})
    assert sentence.startswith("embedded answers 2 of 50 prompts differently from transformers")
    assert "near-tie: 'p1' " in sentence
    assert words in sentence

"""TER by batches of shifts: the counts equal sacrebleu's for texts of any length and order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import BeamEditDistance, translation_edit_rate

from eval.metrics.batched_ter import beam_distances, count_edits

WORDS = st.sampled_from("a b c d e f".split())
TEXTS = st.lists(WORDS, max_size=14)


@settings(max_examples=300, deadline=None)
@given(hypothesis=TEXTS, reference=TEXTS)
def test_edits_equal_sacrebleu(hypothesis: list[str], reference: list[str]) -> None:
    assert count_edits(hypothesis, reference) == translation_edit_rate(hypothesis, reference)[0]


@pytest.mark.parametrize("length", [40, 90, 130])
@pytest.mark.parametrize("vocabulary", [5, 400])
def test_edits_equal_sacrebleu_beyond_the_beam_and_the_limit_of_shifts(length: int, vocabulary: int) -> None:
    random = Random(f"{length}/{vocabulary}")
    reference = [f"w{random.randrange(vocabulary)}" for _ in range(length)]
    # A span longer than the beam is moved to the other end, another is removed, and some words are replaced.
    moved = reference[length // 3 :] + reference[: length // 3]
    hypothesis = [word if random.random() < 0.9 else "new" for word in moved[: length - length // 8]]
    assert count_edits(hypothesis, reference) == translation_edit_rate(hypothesis, reference)[0]


@pytest.mark.parametrize(("hypothesis", "reference"), [(1, 90), (2, 120), (90, 1), (70, 20)])
def test_edits_equal_sacrebleu_for_very_different_lengths(hypothesis: int, reference: int) -> None:
    one, other = [f"w{at}" for at in range(hypothesis)], [f"w{at // 2}" for at in range(reference)]
    assert count_edits(one, other) == translation_edit_rate(one, other)[0]


OUTPUTS = st.integers(1, 9).flatmap(
    lambda size: st.lists(st.lists(WORDS, min_size=size, max_size=size), min_size=1, max_size=8)
)


@settings(max_examples=100, deadline=None)
@given(outputs=OUTPUTS, reference=st.lists(WORDS, min_size=1))
def test_batched_distances_equal_single_ones(outputs: list[list[str]], reference: list[str]) -> None:
    single = [BeamEditDistance(reference)(output)[0] for output in outputs]
    numbered = [[ord(word) for word in output] for output in outputs]
    assert beam_distances(numbered, [ord(word) for word in reference]) == single

"""Chains of words within a few sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.linguistics.annotators.protocol import Annotation, Annotator, Token
from eval.metrics.dip.consistency import FEWEST, MOST, DipConsistency, find_chains, split_blocks
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.dip.conftest import corpus_of

REFERENCE = ["Mira lit the lantern.", "the old lantern was red.", "the sailor saw the lantern.", "he left."]


def scored(outputs: list[str], annotator: Annotator, reference: list[str] = REFERENCE) -> Score:
    counted = DipConsistency(annotator).count(corpus_of(outputs, reference), "mine")
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_the_reference_itself_is_wholly_consistent(listed: Annotator) -> None:
    score = scored(REFERENCE, listed)
    assert score.value == 100
    assert score.parts["full"] == 100


def test_a_synonym_in_one_place_breaks_the_chain(listed: Annotator) -> None:
    changed = [REFERENCE[0], "the old lamp was red.", *REFERENCE[2:]]
    score = scored(changed, listed)
    assert score.value == 0  # by hand: one chain, "lantern" 3 times, of which 2 are repeated
    assert score.parts["undecided"] == 0


def test_a_synonym_everywhere_is_undecided_and_not_inconsistent(listed: Annotator) -> None:
    changed = [text.replace("lantern", "lamp") for text in REFERENCE]
    counted = DipConsistency(listed).count(corpus_of(changed, REFERENCE), "mine")
    assert isinstance(counted, MetricCounts)
    assert isinstance(counted.score(), Unmeasured)  # %Con needs a decided chain
    assert counted.parts["full"](counted.rows.sum(axis=0)) == 0
    assert counted.parts["undecided"](counted.rows.sum(axis=0)) == 100


def test_con_leaves_the_undecided_out_and_full_does_not(listed: Annotator) -> None:
    reference = ["Mira saw the ship.", "Mira saw the red lamp.", "the ship was red.", "the lamp left."]
    # by hand: chains are mira, ship, red, lamp; mira 2/2, ship 1/2, red 2/2, lamp 0/2
    outputs = ["Mira saw the ship.", "Mira saw the red lantern.", "it was red.", "the lantern left."]
    score = scored(outputs, listed, reference)
    assert score.value == pytest.approx(100 * 2 / 3)
    assert score.parts["full"] == pytest.approx(100 * 2 / 4)
    assert score.parts["con of names"] == 100
    assert score.parts["con of nouns"] == 0
    assert score.parts["con of adjectives"] == 100


def test_a_plural_is_the_same_word(listed: Annotator) -> None:
    assert scored([text.replace("lantern", "lanterns") for text in REFERENCE], listed).value == 100


def test_a_text_without_repeated_words_is_not_measured(listed: Annotator) -> None:
    counted = DipConsistency(listed).count(corpus_of(["he left."], ["Mira left."]), "mine")
    assert isinstance(counted, MetricCounts)
    assert isinstance(counted.score(), Unmeasured)


def test_marks_show_the_word_on_both_sides(listed: Annotator) -> None:
    changed = [REFERENCE[0], "the old lamp was red.", *REFERENCE[2:]]
    marks = list(DipConsistency(listed).marks(corpus_of(changed, REFERENCE), "mine"))
    marked = [(mark.side, mark.segment, REFERENCE[mark.segment][mark.start : mark.end]) for mark in marks]
    assert [one for one in marked if one[0] == "reference"] == [("reference", n, "lantern") for n in range(3)]
    assert [one[1] for one in marked if one[0] == "output"] == [0, 2]
    assert {mark.note for mark in marks} == {"lantern: 2 of 3 times"}


def sentences(count: int) -> Annotation:
    tokens = tuple(Token("a", 2 * place, "DT", "a") for place in range(count))
    return Annotation(tokens, sentences=tuple(range(count)))


@given(st.lists(st.integers(min_value=0, max_value=4), max_size=30))
def test_blocks_have_three_to_five_sentences_and_every_segment_once(sizes: list[int]) -> None:
    found = list(split_blocks([sentences(size) for size in sizes]))
    assert [segment for block in found for segment in block] == list(range(len(sizes)))
    for block in found[:-1]:
        held = sum(sizes[segment] for segment in block)
        assert held >= FEWEST
        # More than five only if a segment of several sentences completes the block.
        assert held <= MOST or held - max(sizes[segment] for segment in block) < FEWEST


def test_a_name_of_two_words_is_one_chain(listed: Annotator) -> None:
    reference = ["Mira Oskar sang.", "Mira Oskar slept.", "they left."]
    (chain,) = find_chains(listed.annotate(reference))
    assert (chain.lemma, chain.times) == ("mira oskar", 2)
    shortened = ["Mira Oskar sang.", "Mira slept.", "they left."]
    assert scored(shortened, listed, reference).value == 100
    assert scored(["Mira Oskar sang.", "she slept.", "they left."], listed, reference).value == 0

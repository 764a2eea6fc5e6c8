from __future__ import annotations

from benchmarks.guards import PAIRS, ROUNDS, WORDS, make_pairs


def test_paragraphs_have_the_documented_length() -> None:
    lengths = [len(segment.mt.split()) for segment, _ in make_pairs(0)]
    assert len(lengths) == PAIRS
    assert abs(sum(lengths) / PAIRS - WORDS) < 15


def test_no_paragraph_repeats_in_a_round() -> None:
    for seed in range(ROUNDS):
        texts = [segment.mt for segment, _ in make_pairs(seed)]
        assert len(set(texts)) == len(texts)

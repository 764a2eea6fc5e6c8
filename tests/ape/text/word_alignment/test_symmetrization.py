"""Symmetrisation of two directional alignments."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ape.text.word_alignment.protocol import WordLinks
from ape.text.word_alignment.symmetrization import grow_diag_final_and

LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def test_a_neighbour_of_a_common_link_is_added() -> None:
    forward = frozenset({(0, 0), (1, 1)})
    backward = frozenset({(0, 0), (1, 2)})
    # By hand: (1, 1) touches (0, 0); then (1, 2) touches (1, 1), and target word 2 has no link yet.
    assert grow_diag_final_and(forward, backward) == {(0, 0), (1, 1), (1, 2)}


def test_a_link_far_from_all_others_is_added_if_both_words_are_free() -> None:
    assert grow_diag_final_and(frozenset({(0, 0), (5, 5)}), frozenset({(0, 0)})) == {(0, 0), (5, 5)}


def test_a_link_far_from_all_others_is_not_added_if_a_word_is_linked() -> None:
    assert grow_diag_final_and(frozenset({(0, 0), (0, 5)}), frozenset({(0, 0)})) == {(0, 0)}


@settings(deadline=None)
@given(LINKS, LINKS)
def test_it_lies_between_the_intersection_and_the_union(forward: WordLinks, backward: WordLinks) -> None:
    assert forward & backward <= grow_diag_final_and(forward, backward) <= forward | backward


@settings(deadline=None)
@given(LINKS)
def test_equal_alignments_are_unchanged(links: WordLinks) -> None:
    assert grow_diag_final_and(links, links) == links

"""Words as pieces, and their shapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.linguistics.literary.wordpiece import MAX_PIECES, SHAPES, WordPieces, shape_of

PIECES = WordPieces("[UNK] [CLS] [SEP] walk ##ed ##er ##s ' s e t - half".split())


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("walked", "walk ##ed"),
        ("Walkers", "walk ##er ##s"),
        ("’s", "' s"),
        ("é", "e"),
        ("half-walk", "half - walk"),
        ("half-walk-half", "half - walk half"),
        ("zz", "[UNK]"),
        ("", "[UNK]"),
    ],
)
def test_the_longest_pieces_come_first(word: str, pieces: str) -> None:
    assert " ".join(PIECES.vocabulary[piece] for piece in PIECES.split(word)) == pieces


@given(st.text(max_size=200))
def test_every_word_has_a_few_pieces_and_a_shape(word: str) -> None:
    assert 1 <= len(PIECES.split(word)) <= MAX_PIECES
    assert 0 <= shape_of(word) < 2 * len(SHAPES)


@pytest.mark.parametrize(
    ("word", "shape"),
    [("walks", "lower"), ("Anna", "Title"), ("Mr.", "Title"), ("USA", "UPPER"), ("I", "Single"), ("McCoy", "miXed"),
     ("iOS", "miXed"), ("1812", "digit"), (",", "other")],
)  # fmt: skip
def test_shapes(word: str, shape: str) -> None:
    assert SHAPES[shape_of(word) % len(SHAPES)] == shape

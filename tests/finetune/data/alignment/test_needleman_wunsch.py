from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.alignment import plain_best_path
from finetune.data.alignment.needleman_wunsch import Similarities, best_path


def path_through(matrix: Similarities, block: int | None = None) -> list[tuple[int, int]]:
    rows, columns = matrix.shape
    return best_path(lambda start, end, before: matrix[start:end, :before], (rows, columns), block=block)


@st.composite
def matrices(draw: st.DrawFn) -> Similarities:
    """Matrices of few values, for many equal paths, or of any values."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    values = st.sampled_from([0.0, 0.3, 0.5, 0.6, 1.0]) | st.floats(-1, 1, width=32)
    cells = draw(st.lists(values, min_size=rows * columns, max_size=rows * columns))
    return np.array(cells, dtype=np.float32).reshape(rows, columns)


@given(matrices(), st.none() | st.integers(1, 10))
def test_whatever_the_block_the_way_is_that_of_a_plain_loop(matrix: Similarities, block: int | None) -> None:
    assert path_through(matrix, block) == plain_best_path(matrix.tolist())


@given(matrices())
def test_a_way_takes_single_steps_and_leaves_out_the_ends_of_one_side_only(matrix: Similarities) -> None:
    way = path_through(matrix)
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(way)}
    assert steps <= {(1, 1), (1, 0), (0, 1)}
    assert 0 in way[0]
    assert way[-1][0] == matrix.shape[0] - 1 or way[-1][1] == matrix.shape[1] - 1


@given(st.integers(1, 12))
def test_a_text_aligns_with_itself_one_to_one(count: int) -> None:
    assert path_through(np.eye(count, dtype=np.float32)) == [(place, place) for place in range(count)]


def test_a_sentence_that_became_two_is_met_twice() -> None:
    matrix = np.array([[1, 0, 0, 0], [0, 0.8, 0.7, 0], [0, 0, 0, 1]], dtype=np.float32)
    # By hand: 1 + .8 + (.7 - .3) + 1 = 3.2, against 2.7 for the other path.
    assert path_through(matrix) == [(0, 0), (1, 1), (1, 2), (2, 3)]


def test_a_preface_is_passed_by() -> None:
    matrix = np.array([[0.1, 0.1, 0.9, 0], [0, 0.1, 0, 0.9]], dtype=np.float32)
    assert path_through(matrix) == [(0, 2), (1, 3)]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_has_no_way(shape: tuple[int, int]) -> None:
    assert path_through(np.zeros(shape, dtype=np.float32)) == []

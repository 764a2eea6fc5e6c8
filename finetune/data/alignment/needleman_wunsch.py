"""Needleman-Wunsch alignment of two lists of sentences, with splits and merges.

The best way to a cell is its similarity and the best of three ways before it: from the diagonal, or along a row or a
column at a penalty, which is how one sentence meets several. Either side may begin and end with sentences that no way
passes (a preface, notes): so it begins anywhere on the first row or column, and ends where the last ones are best.

Cells of one anti-diagonal do not depend on each other and are worked out together, by the same additions as in a plain
loop, so that the scores are the same to the last bit. Rows are taken in blocks: of all but one block at a time only the
last row is kept, and a block is filled again when the way back comes to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

# As in PAR3's code with a similarity baseline of 0.
GAP_PENALTY = -0.3
# Memory for the scores of a block.
_BYTES = 128 << 20

Floats: TypeAlias = npt.NDArray[np.float64]
Similarities: TypeAlias = npt.NDArray[np.float32]
# The similarities of the rows from one up to another, to the columns before a third.
SimilarityRows: TypeAlias = Callable[[int, int, int], Similarities]
PathCell: TypeAlias = tuple[int, int]


def best_path(similarities: SimilarityRows, shape: tuple[int, int], *, block: int | None = None) -> list[PathCell]:
    """The cells (row, column) of the best path; ties prefer the diagonal, then the column."""
    rows, columns = shape
    if not rows or not columns:
        return []
    size = block or _block_rows(columns)
    starts = range(0, rows, size)
    above = {0: np.zeros(columns)}
    right = []
    for start in starts:
        end = min(start + size, rows)
        scores = _block_scores(similarities(start, end, columns), above[start])
        above[end] = scores[end - start + 1 :, -1].copy()
        right.append(scores[columns:].diagonal()[1:].copy())
    row, column = _path_end(above[rows], np.concatenate(right))
    way: list[PathCell] = []
    for start in reversed(starts):
        if row < start or column < 0:
            continue
        if start != starts[-1]:
            scores = _block_scores(similarities(start, row + 1, column + 1), above[start][: column + 1])
        row -= start
        while row >= 0 and column >= 0:
            way.append((start + row, column))
            row, column = _previous_cell(scores, row, column)
        row += start
    return way[::-1]


def _block_rows(columns: int) -> int:
    """Rows per block: it has a line of scores for each anti-diagonal."""
    cells = _BYTES // 8
    return max(int((np.sqrt(columns * columns + 4.0 * cells) - columns) / 2), 16)


def _block_scores(similarities: Similarities, above: Floats) -> Floats:
    """The scores of a block: that of cell (row, column) is at [row + column + 2, row + 1].

    So an anti-diagonal is a line in memory. Place 0 of a line belongs to the row above the block; the zeros on the
    table's own diagonal are what lies to the left of the first column.
    """
    rows, columns = similarities.shape
    scores = np.empty((rows + columns + 1, rows + 1))
    scores[1 : columns + 1, 0] = above
    np.fill_diagonal(scores, 0.0)
    step, after = scores.strides
    as_strided(scores[2:, 1:], similarities.shape, (step + after, step))[:] = similarities
    gap_buffer, best_buffer = np.empty(rows + 1), np.empty(rows)
    for line in range(2, rows + columns + 1):
        low, high = max(1, line - columns), min(rows, line - 1) + 1
        count = high - low
        after_gap = np.add(scores[line - 1, low - 1 : high], GAP_PENALTY, out=gap_buffer[: count + 1])
        reached = np.maximum(after_gap[:-1], after_gap[1:], out=best_buffer[:count])
        np.maximum(reached, scores[line - 2, low - 1 : high - 1], out=reached)
        scores[line, low:high] += reached
    return scores


def _path_end(bottom: Floats, right: Floats) -> PathCell:
    """End of the best path, in the last row or column."""
    if bottom.max() >= right.max():
        return len(right) - 1, int(bottom.argmax())
    return int(right.argmax()), len(bottom) - 1


def _previous_cell(scores: Floats, row: int, column: int) -> PathCell:
    """The previous cell of a path; -1 is outside the block."""
    line = row + column + 1
    diagonal, up, left = (scores[line - 1, row], scores[line, row] + GAP_PENALTY, scores[line, row + 1] + GAP_PENALTY)
    if diagonal >= up and diagonal >= left:
        return row - 1, column - 1
    return (row - 1, column) if up >= left else (row, column - 1)

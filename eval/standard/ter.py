"""sacrebleu's TER with all shifts of a round tried at once: the same counts, and paragraphs in no time.

TER moves stretches of the output until no move brings it nearer to the reference, and sacrebleu works out the edit
distance of every possible move by itself: seconds for a paragraph, half an hour for a test set. Which moves there are
does not depend on those distances, so here a round's moves are rows of one matrix and their distances are worked out
together. What may be moved, in which order and how the best is chosen is sacrebleu's own code.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.ter import TER

# More than any distance, and far from what the type can hold.
_NEVER = 1 << 24
Words = NDArray[np.int32]


class BatchedTer(TER):
    """TER that counts a segment's edits by `count_edits`."""

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        references: list[list[str]] = ref_kwargs["ref_words"]
        words = hypothesis.split()
        edits = min(count_edits(words, reference) for reference in references)
        return [edits, sum(map(len, references)) / len(references)]


class _Move(NamedTuple):
    """Words of the output that could stand elsewhere; `words` is the output with them there."""

    length: int
    start: int
    target: int
    words: list[str]


def count_edits(hypothesis: list[str], reference: list[str]) -> int:
    """Words to put in, take out, replace, and stretches to move, to get from the output to the reference."""
    if not reference:
        return len(hypothesis)
    traced = lib_ter.BeamEditDistance(reference)
    words, shifts, checked = hypothesis, 0, 0
    while True:
        distance, inverse = traced(words)
        moves = list(_moves(words, reference, inverse, checked))
        checked += len(moves)
        if not moves:
            break
        distances = beam_distances([move.words for move in moves], reference)
        # Ranked as in Tercom: what wins most, then the longest, then the first, then the one that goes least far.
        nearest, best = min(
            zip(distances.tolist(), moves, strict=True),
            key=lambda pair: (pair[0], -pair[1].length, pair[1].start, pair[1].target),
        )
        # A move that wins nothing is not made, nor is the last that was looked at when there were too many.
        if checked >= lib_ter._MAX_SHIFT_CANDIDATES or nearest >= distance:
            break
        words, shifts = best.words, shifts + 1
    return int(shifts + distance)


def _moves(words: list[str], reference: list[str], inverse: str, checked: int) -> Iterator[_Move]:
    """The moves that sacrebleu would try, in its order, until it has tried too many."""
    flipped: str = lib_ter._flip_trace(inverse)  # type: ignore[no-untyped-call]
    align, reference_wrong, words_wrong = lib_ter.trace_to_alignment(flipped)
    for start, place, length in lib_ter._find_shifted_pairs(words, reference):
        wrong = any(words_wrong[start : start + length]) and any(reference_wrong[place : place + length])
        if not wrong or start <= align[place] < start + length:
            continue
        before = -1
        for offset in range(-1, length):
            if place + offset != -1 and place + offset not in align:
                break
            target = 0 if place + offset == -1 else align[place + offset] + 1
            if target != before:
                before = target
                checked += 1
                yield _Move(length, start, target, lib_ter._perform_shift(words, start, length, target))
        if checked >= lib_ter._MAX_SHIFT_CANDIDATES:
            return


def beam_distances(outputs: Sequence[Sequence[str]], reference: Sequence[str]) -> Words:
    """sacrebleu's edit distance of each output, all of one length, to the reference: in a beam along the diagonal."""
    numbers: dict[str, int] = {}
    for word in (*reference, *(word for output in outputs for word in output)):
        numbers.setdefault(word, len(numbers))
    target: Words = np.array([numbers[word] for word in reference], np.int32)
    given: Words = np.array([[numbers[word] for word in output] for output in outputs], np.int32)
    length, width = given.shape[1], len(target)
    ratio = width / length if length else 1.0
    beam = lib_ter._BEAM_WIDTH
    if beam < ratio / 2:
        beam = math.ceil(ratio / 2 + beam)
    columns = np.arange(width + 1, dtype=np.int32)
    row: Words = np.broadcast_to(columns, (len(given), width + 1)).copy()
    for at in range(1, length + 1):
        diagonal = math.floor(at * ratio)
        low = max(0, diagonal - beam)
        high = width + 1 if at == length else min(width + 1, diagonal + beam)
        first = max(low, 1)
        here: Words = np.full_like(row, _NEVER)
        here[:, low:high] = row[:, low:high] + 1
        replaced = row[:, first - 1 : high - 1] + (given[:, at - 1 : at] != target[first - 1 : high - 1])
        np.minimum(here[:, first:high], replaced, out=here[:, first:high])
        # A word put in costs one more than the cell to the left, which may itself have come from its left.
        steps = here[:, low:high] - columns[low:high]
        here[:, low:high] = np.minimum.accumulate(steps, axis=1) + columns[low:high]
        row = here
    final: Words = row[:, -1]
    return final

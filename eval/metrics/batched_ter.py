"""sacrebleu's TER with all shifts of a round tried at once: the same counts, much faster on paragraphs.

TER shifts spans of the output until no shift reduces the edit distance to the reference. sacrebleu computes the
distance of every candidate shift alone: seconds for a paragraph, half an hour for a test set. The candidates do not
depend on those distances, so here the shifts of a round are rows of one matrix and their distances are computed
together. Candidates, order and choice are as in sacrebleu, whose limits and edit trace are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.ter import TER

# Larger than any distance, and far below the limit of the type.
_NEVER = 1 << 14


class BatchedTer(TER):
    """TER that counts a segment's edits by `count_edits`."""

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[float]:
        references: list[list[str]] = ref_kwargs["ref_words"]
        words = hypothesis.split()
        edits = min(count_edits(words, reference) for reference in references)
        return [edits, sum(map(len, references)) / len(references)]


class _Move(NamedTuple):
    """A candidate shift; `words` is the output after it."""

    length: int
    start: int
    target: int
    words: list[int]


def count_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Insertions, deletions, substitutions and shifts that turn the output into the reference."""
    if not reference:
        return len(hypothesis)
    numbers = {word: number for number, word in enumerate(dict.fromkeys((*reference, *hypothesis)))}
    words, target = ([numbers[word] for word in text] for text in (hypothesis, reference))
    traced: Any = lib_ter.BeamEditDistance(target)  # type: ignore[arg-type]  # accepts any hashable words
    shifts = checked = 0
    while True:
        distance, inverse = traced(words)
        moves = list(_moves(words, target, inverse, checked))
        checked += len(moves)
        if not moves:
            break
        distances = beam_distances([move.words for move in moves], target)
        # Ranked as in Tercom: the largest gain, then the longest span, then the first, then the shortest shift.
        nearest, best = min(
            zip(distances, moves, strict=True),
            key=lambda pair: (pair[0], -pair[1].length, pair[1].start, pair[1].target),
        )
        # As in sacrebleu, a shift without gain is not made, nor is any in the round that reaches the limit.
        if checked >= lib_ter._MAX_SHIFT_CANDIDATES or nearest >= distance:
            break
        words, shifts = best.words, shifts + 1
    return int(shifts + distance)


def _moves(words: list[int], reference: list[int], inverse: str, checked: int) -> Iterator[_Move]:
    """The shifts that sacrebleu would try, in its order and up to its limit."""
    own: Any = lib_ter
    align, reference_wrong, words_wrong = own.trace_to_alignment(own._flip_trace(inverse))
    for start, place, length in _matches(words, reference):
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
                yield _Move(length, start, target, own._perform_shift(words, start, length, target))
        if checked >= own._MAX_SHIFT_CANDIDATES:
            return


def _matches(words: list[int], reference: list[int]) -> Iterator[tuple[int, int, int]]:
    """Common spans as (start in the output, start in the reference, length), in sacrebleu's order."""
    places: dict[int, list[int]] = {}
    for place, word in enumerate(reference):
        places.setdefault(word, []).append(place)
    for start, word in enumerate(words):
        for place in places.get(word, ()):
            if abs(place - start) > lib_ter._MAX_SHIFT_DIST:
                continue
            most = min(lib_ter._MAX_SHIFT_SIZE, len(words) - start, len(reference) - place)
            for length in range(1, most + 1):
                if words[start + length - 1] != reference[place + length - 1]:
                    break
                yield start, place, length


def beam_distances(outputs: Sequence[Sequence[int]], reference: Sequence[int]) -> list[int]:
    """sacrebleu's edit distance from each output, all of one length, to the reference, in a beam along the diagonal.

    Words are numbers. The distance table has a column for each output and is filled row by row of the beam.
    """
    wide = np.int16 if max(len(outputs[0]), len(reference)) < _NEVER // 2 else np.int32
    given = np.array(outputs, np.int32).T
    target = np.array(reference, np.int32)[:, None]
    length, width = len(given), len(target)
    ratio = width / length if length else 1.0
    beam = lib_ter._BEAM_WIDTH
    if beam < ratio / 2:
        beam = math.ceil(ratio / 2 + beam)
    columns = np.arange(width + 1, dtype=wide)[:, None]
    last = np.repeat(columns, len(outputs), axis=1)
    spare = [np.full_like(last, _NEVER) for _ in range(2)]
    for at in range(1, length + 1):
        diagonal = math.floor(at * ratio)
        low = max(0, diagonal - beam)
        high = width + 1 if at == length else min(width + 1, diagonal + beam)
        first = max(low, 1)
        row = spare[at % 2]
        row[:low] = _NEVER  # the beam never returns to these columns
        np.add(last[low:high], 1, out=row[low:high])
        replaced = last[first - 1 : high - 1] + (given[at - 1] != target[first - 1 : high - 1])
        np.minimum(row[first:high], replaced, out=row[first:high])
        # An insertion costs one more than the previous cell; the running minimum covers runs of insertions.
        here = row[low:high]
        np.subtract(here, columns[low:high], out=here)
        np.minimum.accumulate(here, axis=0, out=here)
        np.add(here, columns[low:high], out=here)
        last = row
    found: list[int] = last[-1].tolist()
    return found

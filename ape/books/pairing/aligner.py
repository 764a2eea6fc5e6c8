"""Align the paragraphs of a source and its translation: the best chain of beads, each with a posterior probability.

A bead is a run of source paragraphs with its MT paragraphs: one to one, merged, split, or one side alone. Viterbi finds
the best chain in a wide band around the diagonal; the forward-backward algorithm in a narrow band around the chain
gives the posterior of each bead. Time and memory grow with the number of paragraphs times the width of the band.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ape.books.pairing.pair_scores import IMPOSSIBLE, PairScores
from ape.books.pairing.profile import Floats, Ints

# Rows scored together.
_CHUNK = 128
# The initial half width of the band. Where the best chain comes near its edge, the band is widened, up to a number of
# cells.
_HALF = 60
_MOST_CELLS = 30_000_000
_NARROW = 16
_NEAR = 40
# Long gaps, such as a missing chapter or an added preface: rare to begin, likely to continue.
_LONG_GAP = float(np.log(1e-5))
_LONGER = float(np.log(0.98))
# Tempering: the kinds of evidence are not independent, so their sum is overconfident. With this factor confidences are
# calibrated: see `python -m benchmarks.studies.pairing`.
_TRUST = 0.7

BeadShape = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bead:
    """Source paragraphs `source` to `source_end` aligned with MT paragraphs `mt` to `mt_end` (ends are exclusive).

    `score` is the evidence as log odds against chance.
    """

    source: int
    source_end: int
    mt: int
    mt_end: int
    confidence: float
    score: float

    @property
    def paired(self) -> bool:
        """Whether both sides have paragraphs."""
        return self.source < self.source_end and self.mt < self.mt_end


def align(scorer: PairScores, *, near: Sequence[Bead] = ()) -> list[Bead]:
    """Find the best chain of beads; if `near` is given, in a band around that chain."""
    rows, columns = scorer.shape
    if not rows or not columns:
        sides = [(1, 0)] * rows + [(0, 1)] * columns
        return _beads(sides, [(1.0, 0.0)] * len(sides))
    if near:
        before = [(bead.source_end - bead.source, bead.mt_end - bead.mt) for bead in near]
        chain = _viterbi(scorer, _widen(before, rows, half=_NEAR))[0]
    else:
        chain = _best_chain(scorer)
    narrow = _widen(chain, rows, half=_NARROW)
    return _beads(chain, _posteriors(scorer, narrow, chain))


def align_near(scorer: PairScores, half: int) -> list[Bead]:
    """Align sides of equal length in a band of that half width around the diagonal."""
    rows, _ = scorer.shape
    band = _Band(np.arange(rows + 1) - half, 2 * half + 1)
    chain = _viterbi(scorer, band)[0]
    return _beads(chain, _posteriors(scorer, band, chain))


def _beads(chain: list[BeadShape], known: list[tuple[float, float]]) -> list[Bead]:
    beads = []
    source = mt = 0
    for (a, b), (confidence, score) in zip(chain, known, strict=True):
        beads.append(Bead(source, source + a, mt, mt + b, confidence, score))
        source, mt = source + a, mt + b
    return beads


@dataclass(frozen=True, slots=True)
class _Band:
    """The columns of the band: `width` columns from `low` in each row, some possibly outside of the table."""

    low: Ints
    width: int

    def columns(self, rows: Ints) -> Ints:
        return self.low[rows][:, None] + np.arange(self.width)

    def place(self, row: int, column: int) -> int:
        """The index of a column in its row."""
        return column - int(self.low[row])

    def shift(self, row: int, shape: BeadShape) -> int:
        """The offset from a bead's end to its start, each relative to the first column of its row."""
        return int(self.low[row] - self.low[row - shape[0]]) - shape[1]


def _best_chain(scorer: PairScores) -> list[BeadShape]:
    """Widen the band until the chain stays away from its edges."""
    rows, columns = scorer.shape
    middle = _diagonal(scorer)
    half = min(max(_HALF, abs(rows - columns)), max(_HALF, _MOST_CELLS // (2 * rows + 2)))
    while True:
        half = min(half, columns + 1)
        band = _Band(middle - half, 2 * half + 1)
        chain, nearest = _viterbi(scorer, band)
        if nearest > half // 4 or half > columns or (rows + 1) * (4 * half + 1) > _MOST_CELLS:
            return chain
        half *= 2


def _diagonal(scorer: PairScores) -> Ints:
    """For each row, the column with the same share of text before it."""
    source = np.concatenate([[0], np.cumsum(scorer.source.sizes + 1)])
    mt = np.concatenate([[0], np.cumsum(scorer.mt.sizes + 1)])
    return np.asarray(np.searchsorted(mt / mt[-1], source / source[-1]), dtype=np.int64)


def _widen(chain: list[BeadShape], rows: int, *, half: int) -> _Band:
    ends = np.cumsum(np.array([(0, 0), *chain]), axis=0)
    middle = np.interp(np.arange(rows + 1), ends[:, 0], ends[:, 1]).astype(np.int64)
    # A row with many MT paragraphs without a source needs all of their columns.
    steps = max(int(np.diff(ends[:, 1]).max(initial=0)), _widest_row(ends))
    half += steps
    return _Band(middle - half, 2 * half + 1)


def _widest_row(ends: Ints) -> int:
    _, first, counts = np.unique(ends[:, 0], return_index=True, return_counts=True)
    return int((ends[first + counts - 1, 1] - ends[first, 1]).max())


def _rows(
    scorer: PairScores, band: _Band, *, backwards: bool = False, temper: float = 1.0
) -> Iterator[tuple[int, dict[BeadShape, Floats]]]:
    """For each row, the scores of all beads that end in it."""
    rows, _ = scorer.shape
    shapes = _shapes(scorer)
    starts = range(0, rows + 1, _CHUNK)
    for start in reversed(starts) if backwards else starts:
        within = np.arange(start, min(start + _CHUNK, rows + 1))
        scores = scorer.block(within, band.columns(within), shapes)
        for row in reversed(within) if backwards else within:
            yield int(row), {shape: temper * score[row - start] for shape, score in scores.items()}


def _shapes(scorer: PairScores) -> list[BeadShape]:
    """All bead shapes but (0, 1), which stays within a row."""
    return [shape for shape in scorer.model.beads if shape != (0, 1)]


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Log probabilities of unpaired paragraphs: a single one of the MT, the first of a long gap, each further one."""

    one: float
    first: float
    further: float

    @classmethod
    def of(cls, scorer: PairScores, temper: float = 1.0) -> _Gaps:
        one = float(np.log(scorer.model.beads[0, 1]))
        return cls(temper * one, temper * _LONG_GAP, temper * _LONGER)

    def within_row(self, reached: Floats, add: np.ufunc) -> tuple[Floats, Floats]:
        """Scores after skipping any number of MT paragraphs singly, and in one long gap."""
        steps = np.arange(len(reached))
        short = add.accumulate(reached - self.one * steps) + self.one * steps
        long = add.accumulate(reached - self.further * steps) + self.further * steps
        return short, _shifted(_padded(long), -1) + self.first


def _padded(values: Floats) -> Floats:
    """Pad a row with its width of impossible scores on each side, so that shifts are views."""
    nothing = np.full(len(values), IMPOSSIBLE)
    return np.concatenate([nothing, values, nothing])


def _shifted(padded: Floats, shift: int) -> Floats:
    """The row, shifted."""
    width = len(padded) // 3
    start = min(max(width + shift, 0), 2 * width)
    return padded[start : start + width]


def _nothing(band: _Band) -> Floats:
    return np.full(band.width, IMPOSSIBLE)


def _within(values: Floats, band: _Band, row: int, columns: int) -> Floats:
    places = band.low[row] + np.arange(band.width)
    return np.where((places >= 0) & (places <= columns), values, IMPOSSIBLE)


# --- the best chain ----------------------------------------------------------------------------------------------

# Best steps other than a bead's index: MT paragraphs without a source, a single one or a long gap.
_ONE_MT, _LONG_MT = -1, -2


def _viterbi(scorer: PairScores, band: _Band) -> tuple[list[BeadShape], int]:
    """The best chain in the band, and its smallest distance from the band's edges."""
    rows, columns = scorer.shape
    shapes = _shapes(scorer)
    gaps = _Gaps.of(scorer)
    taken = np.zeros((rows + 1, band.width), dtype=np.int8)
    opened = np.zeros((rows + 1, band.width), dtype=bool)
    best: list[Floats] = []
    skipping = _padded(_nothing(band))
    for row, scores in _rows(scorer, band):
        into = np.full((len(shapes) + 1, band.width), IMPOSSIBLE)
        if row == 0:
            into[0, band.place(0, 0)] = 0.0
        else:
            shift = band.shift(row, (1, 0))
            begun, going = _shifted(best[-1], shift) + gaps.first, _shifted(skipping, shift) + gaps.further
            opened[row] = begun >= going
            into[-1] = np.maximum(begun, going)
            skipping = _padded(into[-1])
        for place, shape in enumerate(shapes):
            if shape[0] <= row:
                into[place] = scores[shape] + _shifted(best[-shape[0]], band.shift(row, shape))
        reached = into.max(axis=0)
        short, long = gaps.within_row(reached, np.maximum)
        bead = np.where(short > reached + 1e-9, _ONE_MT, into.argmax(axis=0))
        taken[row] = np.where(long > short, _LONG_MT, bead)
        total = _within(np.maximum(short, long), band, row, columns)
        best = [*best[1 - scorer.model.longest :], _padded(total)]
    return _Steps(taken, opened, shapes, band).chain(rows, columns)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The best steps, traced back from the end."""

    taken: npt.NDArray[np.int8]
    opened: npt.NDArray[np.bool_]
    shapes: list[BeadShape]
    band: _Band

    def chain(self, row: int, column: int) -> tuple[list[BeadShape], int]:
        """The bead shapes in order, and their smallest distance from the band's edges."""
        columns = column
        nearest = self.band.width
        chain: list[BeadShape] = []
        while row or column:
            nearest = min(nearest, self._to_edge(row, column, columns))
            steps = self._steps(row, column)
            chain += steps
            row, column = row - sum(a for a, _ in steps), column - sum(b for _, b in steps)
        return chain[::-1], nearest

    def _steps(self, row: int, column: int) -> list[BeadShape]:
        step = self._at(row, column)
        if step == _ONE_MT:
            return [(0, 1)]
        length = 1
        if step == _LONG_MT:
            # The gap begins at the nearest column to the left that was not reached by a gap.
            while self._at(row, column - length) in (_ONE_MT, _LONG_MT):
                length += 1
            return [(0, 1)] * length
        if step < len(self.shapes):
            return [self.shapes[step]]
        while not self.opened[row - length + 1, self.band.place(row - length + 1, column)]:
            length += 1
        return [(1, 0)] * length

    def _at(self, row: int, column: int) -> int:
        return int(self.taken[row, self.band.place(row, column)])

    def _to_edge(self, row: int, column: int, columns: int) -> int:
        """The distance to an edge of the band that is not an edge of the table."""
        left = int(self.band.low[row])
        right = left + self.band.width - 1
        return min(column - left if left > 0 else columns, right - column if right < columns else columns)


# --- posteriors --------------------------------------------------------------------------------------------------


def _posteriors(scorer: PairScores, band: _Band, chain: list[BeadShape]) -> list[tuple[float, float]]:
    """For each bead of the chain, its posterior and its score; gaps get a posterior of 1, since none is needed."""
    rows, columns = scorer.shape
    forward = _forward(scorer, band)
    whole = forward[rows, band.place(rows, columns)]
    known: list[tuple[float, float]] = []
    row, column = rows, columns
    for at, scores, after in _backward(scorer, band):
        while len(known) < len(chain) and row == at:
            a, b = chain[-1 - len(known)]
            share, evidence = 1.0, 0.0
            if a and b:
                place = band.place(row, column)
                score = float(scores[a, b][place])
                before = forward[row - a, band.place(row - a, column - b)]
                share = min(float(np.exp(before + score + after[place] - whole)), 1.0)
                evidence = score / _TRUST - float(np.log(scorer.model.beads[a, b]))
            known.append((share, evidence))
            row, column = row - a, column - b
    return known[::-1]


def _forward(scorer: PairScores, band: _Band) -> Floats:
    """For each cell, the log sum over all chains that lead to it."""
    rows, columns = scorer.shape
    gaps = _Gaps.of(scorer, _TRUST)
    forward = np.full((rows + 1, band.width), IMPOSSIBLE)
    skipping = _padded(_nothing(band))
    before: list[Floats] = []
    for row, scores in _rows(scorer, band, temper=_TRUST):
        total = _nothing(band)
        if row == 0:
            total[band.place(0, 0)] = 0.0
        else:
            shift = band.shift(row, (1, 0))
            begun, going = _shifted(before[-1], shift) + gaps.first, _shifted(skipping, shift) + gaps.further
            total = np.logaddexp(begun, going)
            skipping = _padded(total)
        for shape, score in scores.items():
            if shape[0] <= row:
                total = np.logaddexp(total, score + _shifted(before[-shape[0]], band.shift(row, shape)))
        forward[row] = _within(np.logaddexp(*gaps.within_row(total, np.logaddexp)), band, row, columns)
        before = [*before[1 - scorer.model.longest :], _padded(forward[row])]
    return forward


def _backward(scorer: PairScores, band: _Band) -> Iterator[tuple[int, dict[BeadShape, Floats], Floats]]:
    """For each row from the last, the scores, and the log sum over all chains from each cell to the end."""
    rows, columns = scorer.shape
    gaps = _Gaps.of(scorer, _TRUST)
    ahead: dict[int, dict[BeadShape, Floats]] = {}
    skipping = _padded(_nothing(band))
    for row, scores in _rows(scorer, band, backwards=True, temper=_TRUST):
        total, going = _nothing(band), _nothing(band)
        if row == rows:
            total[band.place(rows, columns)] = 0.0
        else:
            skipped = _shifted(skipping, -band.shift(row + 1, (1, 0)))
            total, going = skipped + gaps.first, skipped + gaps.further
        for shape in scores:
            if (end := row + shape[0]) <= rows:
                total = np.logaddexp(total, _shifted(ahead[end][shape], -band.shift(end, shape)))
        spread = np.logaddexp(*gaps.within_row(total[::-1], np.logaddexp))[::-1]
        after = _within(spread, band, row, columns)
        yield row, scores, after
        ahead[row] = {shape: _padded(after + score) for shape, score in scores.items()}
        ahead.pop(row + scorer.model.longest, None)
        skipping = _padded(np.logaddexp(after, going))

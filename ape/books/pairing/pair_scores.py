"""Score runs of MT paragraphs against runs of source paragraphs, as log odds against chance (0 is no evidence).

The evidence is length (after Gale and Church 1993), features that translations keep (questions, speech, headings), and
terms that are shared or were learned to translate each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ape.books.pairing.profile import COUNTED, END, KINDS, BookProfile, Floats, Ints

# Prior frequencies of beads by their numbers of source and MT paragraphs.
BEADS: dict[tuple[int, int], float] = {
    (1, 1): 0.90, (1, 2): 0.02, (2, 1): 0.02, (1, 3): 0.005, (3, 1): 0.005, (1, 4): 0.0015, (4, 1): 0.0015,
    (2, 2): 0.003, (1, 0): 0.02, (0, 1): 0.02,
}  # fmt: skip
# Where one side has far more paragraphs, a page of dialogue may be one paragraph on the other side.
_UNEVEN = 1.25
_LONG_RUN = 12
IMPOSSIBLE = -1e9
# Added to sizes, so that a single letter matters little in the shortest texts.
SLACK = 10.0
# The share and the spread of outliers in length, whose MT is cut off or runs on.
_OUTLIERS, _OUTLIER_SPREAD = 0.05, 0.8
# Prior probability that a translation keeps a feature.
_KEPT_SIGN = 0.7
# Tempering of terms, which are not independent (a first name and its surname, a name and its verb).
_TRUST_IN_TERMS = 0.6
# Prior probability that a translation keeps a shared term.
KEPT_SHARE = 0.4
# Terms in more than this share of paragraphs are ignored.
_TOO_COMMON = 0.2


@dataclass(frozen=True, slots=True)
class TermLinks:
    """Links of source terms to MT terms, and how often each is kept in true pairs."""

    source: Ints
    mt: Ints
    kept: Floats


@dataclass(frozen=True, slots=True)
class PairModel:
    """A model of the pairs of a book. `ratio` is MT size over source size, `spread` the deviation of its logarithm.

    `signs` counts for each sign how often a kind in the source became a kind in the MT.
    """

    ratio: float = 1.0
    spread: float = 0.22
    beads: dict[tuple[int, int], float] = field(default_factory=lambda: dict(BEADS))
    signs: tuple[Floats, ...] = tuple(np.zeros((kinds, kinds)) for kinds in KINDS)
    terms: TermLinks | None = None

    @property
    def longest(self) -> int:
        """The most paragraphs on one side of a bead."""
        return max(map(max, self.beads))


def initial_pair_model(source: BookProfile, mt: BookProfile) -> PairModel:
    """The model before any fitting."""
    ratio = float(mt.sizes.sum() / source.sizes.sum()) if len(source) and len(mt) else 1.0
    beads = dict(BEADS)
    for longer, shorter, many in ((mt, source, False), (source, mt, True)):
        if len(longer) > _UNEVEN * len(shorter):
            beads |= {(run, 1) if many else (1, run): 0.002 * 0.8 ** (run - 4) for run in range(5, _LONG_RUN + 1)}
    return PairModel(ratio=min(max(ratio, 0.75), 1.35), beads=beads)


class PairScores:
    """The scores of all beads between two profiles under a model."""

    def __init__(self, source: BookProfile, mt: BookProfile, model: PairModel) -> None:
        self.source, self.mt, self.model = source, mt, model
        self._source_sums = _sums(source.sizes)
        self._mt_sums = _sums(mt.sizes)
        runs = range(1, model.longest + 1)
        self._source_groups = {a: _groups(source, a) for a in runs}
        self._mt_groups = {b: _groups(mt, b) for b in runs}
        self._tables = [_table(counts, mt.signs[:, sign]) for sign, counts in enumerate(model.signs)]
        self._chance = self._by_chance()
        self._terms = _TermEvidence(source, mt, model)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of paragraphs on each side."""
        return len(self.source), len(self.mt)

    def block(self, rows: Ints, columns: Ints, beads: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Floats]:
        """The scores of beads that end at these consecutive rows, and at the columns of each."""
        shared = self._terms.block(rows, columns)
        return {bead: self._score(bead, rows, columns, shared) for bead in beads}

    def _score(self, bead: tuple[int, int], rows: Ints, columns: Ints, shared: _TermEvidenceBlock) -> Floats:
        a, b = bead
        prior = float(np.log(self.model.beads[bead]))
        inside = (rows[:, None] >= a) & (columns >= b) & (columns <= len(self.mt))
        if b == 0:
            return np.where(inside, prior, IMPOSSIBLE)
        j = np.clip(columns, b, max(b, len(self.mt)))
        j = np.minimum(j, len(self.mt))
        i = np.maximum(rows, min(a, len(self.source)))
        score = prior + self._length(i, j, a, b) + shared.sums(a, b)
        for sign, table in enumerate(self._tables):
            score += table[self._source_groups[a][i, sign][:, None], self._mt_groups[b][j, sign]]
        return np.where(inside, score, IMPOSSIBLE)

    def _length(self, i: Ints, j: Ints, a: int, b: int) -> Floats:
        expected = self.model.ratio * (self._source_sums[i] - self._source_sums[np.maximum(i - a, 0)])[:, None]
        there = self._mt_sums[j] - self._mt_sums[np.maximum(j - b, 0)]
        deviation = np.log((there + SLACK) / (expected + SLACK))
        return _length_density(deviation, self.model.spread, expected) - self._chance[b][j]

    def _by_chance(self) -> dict[int, Floats]:
        """Log density of MT lengths by chance, including the division of a run's length among its paragraphs."""
        logs = np.log(self.mt.sizes + SLACK)
        mean, deviation = (float(logs.mean()), max(float(logs.std()), 0.3)) if len(logs) else (0.0, 1.0)
        alone = -0.5 * ((logs - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
        densities = {}
        for b in range(1, self.model.longest + 1):
            total = _window(_sums(alone), b)
            if b > 1:
                # The density of b log lengths given their sum, for uniform shares.
                shares = _window(_sums(logs), b) - b * np.log(np.maximum(_window(self._mt_sums, b) + b * SLACK, 1))
                total = total - (shares + float(np.sum(np.log(np.arange(1, b)))))
            densities[b] = total
        return densities


def _sums(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])


def _window(sums: Floats, length: int) -> Floats:
    """Moving sums of `length` values, by end."""
    return sums - sums[np.maximum(np.arange(len(sums)) - length, 0)]


def length_narrowing(expected: Floats) -> Floats:
    """The factor by which the spread of lengths shrinks for longer texts."""
    return np.asarray(np.sqrt(0.33 + 0.67 * 80 / (80 + expected)))


def _length_density(deviation: Floats, spread: float, expected: Floats) -> Floats:
    """Log density of the deviation from the expected length: a peak, narrower for longer texts, with wide tails."""
    narrow = spread * length_narrowing(expected)
    peak = np.log((1 - _OUTLIERS) / (narrow * np.sqrt(2 * np.pi))) - 0.5 * (deviation / narrow) ** 2
    tail = np.log(_OUTLIERS / (_OUTLIER_SPREAD * np.sqrt(2 * np.pi))) - 0.5 * (deviation / _OUTLIER_SPREAD) ** 2
    return np.asarray(np.logaddexp(peak, tail))


def _groups(profile: BookProfile, length: int) -> Ints:
    """The signs of every run of `length` paragraphs, by end: of the first, of the last, or the sum."""
    ends = np.arange(len(profile) + 1)
    first, last = np.maximum(ends - length, 0), np.maximum(ends - 1, 0)
    signs = profile.signs if len(profile) else np.zeros((1, len(KINDS)), dtype=np.int64)
    groups = signs[np.minimum(first, len(signs) - 1)].copy()
    groups[:, END] = signs[last, END]
    sums = np.concatenate([np.zeros((1, len(KINDS)), dtype=np.int64), np.cumsum(profile.signs, axis=0, dtype=np.int64)])
    for sign in COUNTED:
        groups[:, sign] = np.minimum(sums[ends, sign] - sums[first, sign], KINDS[sign] - 1)
    return groups


def _table(counts: Floats, there: Ints) -> Floats:
    """Log odds of a kind in the MT given the kind in the source, from counts, the prior and the MT's distribution."""
    kinds = len(counts)
    mix = np.bincount(there, minlength=kinds) + 0.5
    mix = mix / mix.sum()
    expected = _KEPT_SIGN * np.eye(kinds) + (1 - _KEPT_SIGN) * mix
    share = (counts + 10 * expected) / (counts.sum(axis=1, keepdims=True) + 10)
    return np.asarray(np.log(share / mix))


class _TermEvidence:
    """The evidence of terms, computed for a few rows at a time.

    A term counts once in a run of paragraphs: repetitions of the preceding paragraph are ignored, on either side.
    """

    def __init__(self, source: BookProfile, mt: BookProfile, model: PairModel) -> None:
        terms = model.terms if model.terms is not None else shared_terms(source, mt)
        self._longest = model.longest
        self._rows, self._pairs = _term_occurrences(source, terms.source)
        mt_rows, mt_pairs = _term_occurrences(mt, terms.mt)
        chance = (np.bincount(mt_pairs, minlength=len(terms.mt)) + 0.5) / (len(mt) + 1.0)
        useful = chance < _TOO_COMMON
        kept = np.clip(terms.kept, 0.02, 0.95)
        missing = np.where(useful, np.log((1 - kept) / (1 - chance)), 0.0) * _TRUST_IN_TERMS
        self._mt_rows, self._mt_pairs = mt_rows[useful[mt_pairs]], mt_pairs[useful[mt_pairs]]
        by_size = np.clip(mt.sizes / max(float(mt.sizes.mean()), 1.0) if len(mt) else mt.sizes, 0.3, 4.0)
        likely = np.minimum(chance[self._mt_pairs] * by_size[self._mt_rows], 0.5)
        found = np.log(kept[self._mt_pairs] / likely) * _TRUST_IN_TERMS
        self._weights = found - missing[self._mt_pairs]
        self._repeated = _repeats_previous(self._rows, self._pairs)
        self._mt_repeated = _repeats_previous(self._mt_rows, self._mt_pairs)
        lost = missing[self._pairs]
        self._base: Floats = np.bincount(self._rows, lost, minlength=len(source)).astype(np.float64)
        repeated_base = np.bincount(self._rows, lost * self._repeated, minlength=len(source))
        self._new_base: Floats = self._base - repeated_base

    def block(self, rows: Ints, columns: Ints) -> _TermEvidenceBlock:
        first, last = max(int(rows[0]) - self._longest, 0), int(rows[-1])
        left = max(int(columns.min()) - self._longest, 0)
        right = max(int(columns.max()), left)
        here = slice(*np.searchsorted(self._rows, [first, last]))
        there = slice(*np.searchsorted(self._mt_rows, [left, right]))
        mine, theirs = matching_places(self._pairs[here], self._mt_pairs[there])
        cells = (self._rows[here][mine] - first, self._mt_rows[there][theirs] - left + 1)
        weights = self._weights[there][theirs]
        new, again = ~self._repeated[here][mine], self._mt_repeated[there][theirs]
        shape = (max(last - first, 1), right - left + 1)
        grids = [_grid(shape, cells, weights * share) for share in (1, again, new, new & again)]
        return _TermEvidenceBlock(grids, (self._base, self._new_base), rows, columns, first, left)


@dataclass(frozen=True, slots=True)
class _TermEvidenceBlock:
    grids: list[Floats]
    bases: tuple[Floats, Floats]
    rows: Ints
    columns: Ints
    first: int
    left: int

    def sums(self, a: int, b: int) -> Floats:
        """The evidence for beads of `a` and `b` paragraphs that end at the rows and columns."""
        right, before, second = (self._place(back) for back in (0, b, b - 1))
        total = np.zeros(self.columns.shape)
        for back in range(1, a + 1):
            row = np.maximum(self.rows - back, 0)
            at = np.maximum(row - self.first, 0)[:, None]
            later = int(back < a)
            whole, again = self.grids[2 * later], self.grids[2 * later + 1]
            total += whole[at, right] - whole[at, before] + self.bases[later][row][:, None]
            if b > 1:
                total -= again[at, right] - again[at, second]
        return total

    def _place(self, back: int) -> Ints:
        return np.clip(self.columns - back - self.left, 0, self.grids[0].shape[1] - 1)


def _grid(shape: tuple[int, int], cells: tuple[Ints, Ints], weights: Floats) -> Floats:
    """Cumulative sums of the weights along rows."""
    flat = np.bincount(cells[0] * shape[1] + cells[1], weights, minlength=shape[0] * shape[1])
    return np.cumsum(flat.reshape(shape), axis=1)


def _repeats_previous(rows: Ints, pairs: Ints) -> npt.NDArray[np.bool_]:
    """Whether the preceding paragraph has the term too."""
    kinds = int(pairs.max(initial=0)) + 1
    return np.isin(rows * kinds + pairs, (rows + 1) * kinds + pairs)


def shared_terms(source: BookProfile, mt: BookProfile) -> TermLinks:
    """Terms that are equal on both sides: names, numbers, cognates and some false friends."""
    both = np.intersect1d(source.terms, mt.terms)
    return TermLinks(both, both, np.full(len(both), KEPT_SHARE))


def _term_occurrences(profile: BookProfile, terms: Ints) -> tuple[Ints, Ints]:
    """Indices of paragraphs and of the terms that they contain."""
    if not len(terms):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    order = np.argsort(terms, kind="stable")
    ranked = terms[order]
    at = np.minimum(np.searchsorted(ranked, profile.terms), len(terms) - 1)
    hit = ranked[at] == profile.terms
    return profile.places()[hit], order[at[hit]]


def matching_places(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of indices with equal values."""
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    start, end = np.searchsorted(ranked, left, "left"), np.searchsorted(ranked, left, "right")
    counts = end - start
    mine = np.repeat(np.arange(len(left)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return mine, order[np.repeat(start, counts) + offsets]

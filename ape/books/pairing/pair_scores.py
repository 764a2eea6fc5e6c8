"""How much more likely a run of MT paragraphs is, given a run of source paragraphs, than by chance.

The evidence is length (after Gale and Church 1993), signs that cross languages (questions, speech, headings) and terms
that both sides have or that were learned to stand for each other. All of it is a logarithm of odds: 0 says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ape.books.pairing.profile import COUNTED, END, KINDS, BookProfile, Floats, Ints

# Source paragraphs, MT paragraphs, and how often such a bead is there, before anything is known of a book.
BEADS: dict[tuple[int, int], float] = {
    (1, 1): 0.90, (1, 2): 0.02, (2, 1): 0.02, (1, 3): 0.005, (3, 1): 0.005, (1, 4): 0.0015, (4, 1): 0.0015,
    (2, 2): 0.003, (1, 0): 0.02, (0, 1): 0.02,
}  # fmt: skip
# Where one side has far more paragraphs, a page of talk may be one paragraph of the other side.
_UNEVEN = 1.25
_LONG_RUN = 12
IMPOSSIBLE = -1e9
# Added to sizes, so that the shortest do not swing by a letter.
SLACK = 10.0
# One pair in so many is out of all proportion, its MT cut off or run on: it has a spread of its own.
_ODD, _ODD_SPREAD = 0.05, 0.8
# How far a sign is kept by a translator, before anything is known of a book.
_KEPT_SIGN = 0.7
# Terms come in families (a name, its other half, the verb it goes with), and so are no independent witnesses.
_TRUST_IN_TERMS = 0.6
# How often a term that both languages have is kept, before anything is known of a book.
KEPT_SHARE = 0.4
# A term that so many paragraphs have is no help.
_TOO_COMMON = 0.2


@dataclass(frozen=True, slots=True)
class TermLinks:
    """Which term of the source stands for which of the MT, and how often it does where paragraphs are a pair."""

    source: Ints
    mt: Ints
    kept: Floats


@dataclass(frozen=True, slots=True)
class PairModel:
    """What pairs of a book look like. `ratio` is MT size over source size, `spread` its logarithm's deviation.

    `signs` has for each sign how often a kind of it in the source becomes a kind of it in the MT: counts, not shares.
    """

    ratio: float = 1.0
    spread: float = 0.22
    beads: dict[tuple[int, int], float] = field(default_factory=lambda: dict(BEADS))
    signs: tuple[Floats, ...] = tuple(np.zeros((kinds, kinds)) for kinds in KINDS)
    terms: TermLinks | None = None

    @property
    def longest(self) -> int:
        """The most paragraphs that one side of a bead may have."""
        return max(map(max, self.beads))


def initial_pair_model(source: BookProfile, mt: BookProfile) -> PairModel:
    """What to expect of a book before anything is learned from it."""
    ratio = float(mt.sizes.sum() / source.sizes.sum()) if len(source) and len(mt) else 1.0
    beads = dict(BEADS)
    for longer, shorter, many in ((mt, source, False), (source, mt, True)):
        if len(longer) > _UNEVEN * len(shorter):
            beads |= {
                (run, 1) if many else (1, run): 0.002 * 0.8 ** (run - 4) for run in range(5, _LONG_RUN + 1)
            }
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
        self._terms = _Shared(source, mt, model)

    @property
    def shape(self) -> tuple[int, int]:
        """How many paragraphs each side has."""
        return len(self.source), len(self.mt)

    def block(
        self, rows: Ints, columns: Ints, beads: Iterable[tuple[int, int]]
    ) -> dict[tuple[int, int], Floats]:
        """The scores of beads that end at these rows and columns: neighbouring rows, and columns for each of them."""
        shared = self._terms.block(rows, columns)
        return {bead: self._score(bead, rows, columns, shared) for bead in beads}

    def _score(self, bead: tuple[int, int], rows: Ints, columns: Ints, shared: _SharedBlock) -> Floats:
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
        expected = (
            self.model.ratio * (self._source_sums[i] - self._source_sums[np.maximum(i - a, 0)])[:, None]
        )
        there = self._mt_sums[j] - self._mt_sums[np.maximum(j - b, 0)]
        away = np.log((there + SLACK) / (expected + SLACK))
        return _near(away, self.model.spread, expected) - self._chance[b][j]

    def _by_chance(self) -> dict[int, Floats]:
        """The logarithm of how likely the lengths of MT paragraphs are by chance, and of how a run divides its sum."""
        logs = np.log(self.mt.sizes + SLACK)
        mean, deviation = (float(logs.mean()), max(float(logs.std()), 0.3)) if len(logs) else (0.0, 1.0)
        alone = -0.5 * ((logs - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))
        chances = {}
        for b in range(1, self.model.longest + 1):
            total = _window(_sums(alone), b)
            if b > 1:
                # The density of b lengths as logarithms, where their sum is given and their shares of it are even.
                shares = _window(_sums(logs), b) - b * np.log(
                    np.maximum(_window(self._mt_sums, b) + b * SLACK, 1)
                )
                total = total - (shares + float(np.sum(np.log(np.arange(1, b)))))
            chances[b] = total
        return chances


def _sums(values: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(values)])


def _window(sums: Floats, length: int) -> Floats:
    """At each end, the sum of so many values before it."""
    return sums - sums[np.maximum(np.arange(len(sums)) - length, 0)]


def length_narrowing(expected: Floats) -> Floats:
    """How much narrower lengths lie together the longer a text is."""
    return np.asarray(np.sqrt(0.33 + 0.67 * 80 / (80 + expected)))


def _near(away: Floats, spread: float, expected: Floats) -> Floats:
    """The logarithm of the density of a length's distance from what was expected: a peak, narrower the longer the
    text, with wide tails."""
    narrow = spread * length_narrowing(expected)
    peak = np.log((1 - _ODD) / (narrow * np.sqrt(2 * np.pi))) - 0.5 * (away / narrow) ** 2
    tail = np.log(_ODD / (_ODD_SPREAD * np.sqrt(2 * np.pi))) - 0.5 * (away / _ODD_SPREAD) ** 2
    return np.asarray(np.logaddexp(peak, tail))


def _groups(profile: BookProfile, length: int) -> Ints:
    """The signs of every run of so many paragraphs, by its end: the first's, the last's, or the sum."""
    ends = np.arange(len(profile) + 1)
    first, last = np.maximum(ends - length, 0), np.maximum(ends - 1, 0)
    signs = profile.signs if len(profile) else np.zeros((1, len(KINDS)), dtype=np.int64)
    groups = signs[np.minimum(first, len(signs) - 1)].copy()
    groups[:, END] = signs[last, END]
    sums = np.concatenate(
        [np.zeros((1, len(KINDS)), dtype=np.int64), np.cumsum(profile.signs, axis=0, dtype=np.int64)]
    )
    for sign in COUNTED:
        groups[:, sign] = np.minimum(sums[ends, sign] - sums[first, sign], KINDS[sign] - 1)
    return groups


def _table(counts: Floats, there: Ints) -> Floats:
    """Log odds of a kind in the MT given the kind in the source, from counts, our expectation, and the MT's own mix."""
    kinds = len(counts)
    mix = np.bincount(there, minlength=kinds) + 0.5
    mix = mix / mix.sum()
    expected = _KEPT_SIGN * np.eye(kinds) + (1 - _KEPT_SIGN) * mix
    share = (counts + 10 * expected) / (counts.sum(axis=1, keepdims=True) + 10)
    return np.asarray(np.log(share / mix))


class _Shared:
    """What terms say, worked out for a few rows at a time.

    A run of paragraphs has a term or has it not: what a paragraph says again after the one before it counts for
    nothing within a run, on either side.
    """

    def __init__(self, source: BookProfile, mt: BookProfile, model: PairModel) -> None:
        terms = model.terms if model.terms is not None else shared_terms(source, mt)
        self._longest = model.longest
        self._rows, self._pairs = _known(source, terms.source)
        mt_rows, mt_pairs = _known(mt, terms.mt)
        chance = (np.bincount(mt_pairs, minlength=len(terms.mt)) + 0.5) / (len(mt) + 1.0)
        useful = chance < _TOO_COMMON
        kept = np.clip(terms.kept, 0.02, 0.95)
        missing = np.where(useful, np.log((1 - kept) / (1 - chance)), 0.0) * _TRUST_IN_TERMS
        self._mt_rows, self._mt_pairs = mt_rows[useful[mt_pairs]], mt_pairs[useful[mt_pairs]]
        by_size = np.clip(mt.sizes / max(float(mt.sizes.mean()), 1.0) if len(mt) else mt.sizes, 0.3, 4.0)
        likely = np.minimum(chance[self._mt_pairs] * by_size[self._mt_rows], 0.5)
        found = np.log(kept[self._mt_pairs] / likely) * _TRUST_IN_TERMS
        self._weights = found - missing[self._mt_pairs]
        self._said = _again(self._rows, self._pairs)
        self._mt_said = _again(self._mt_rows, self._mt_pairs)
        lost = missing[self._pairs]
        self._base: Floats = np.bincount(self._rows, lost, minlength=len(source)).astype(np.float64)
        said_base = np.bincount(self._rows, lost * self._said, minlength=len(source))
        self._new_base: Floats = self._base - said_base

    def block(self, rows: Ints, columns: Ints) -> _SharedBlock:
        first, last = max(int(rows[0]) - self._longest, 0), int(rows[-1])
        left = max(int(columns.min()) - self._longest, 0)
        right = max(int(columns.max()), left)
        here = slice(*np.searchsorted(self._rows, [first, last]))
        there = slice(*np.searchsorted(self._mt_rows, [left, right]))
        mine, theirs = matching_places(self._pairs[here], self._mt_pairs[there])
        cells = (self._rows[here][mine] - first, self._mt_rows[there][theirs] - left + 1)
        weights = self._weights[there][theirs]
        new, again = ~self._said[here][mine], self._mt_said[there][theirs]
        shape = (max(last - first, 1), right - left + 1)
        grids = [_grid(shape, cells, weights * share) for share in (1, again, new, new & again)]
        return _SharedBlock(grids, (self._base, self._new_base), rows, columns, first, left)


@dataclass(frozen=True, slots=True)
class _SharedBlock:
    grids: list[Floats]
    bases: tuple[Floats, Floats]
    rows: Ints
    columns: Ints
    first: int
    left: int

    def sums(self, a: int, b: int) -> Floats:
        """What the terms say of beads of that shape that end at the rows and columns."""
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
    """The weights summed up from the left."""
    flat = np.bincount(cells[0] * shape[1] + cells[1], weights, minlength=shape[0] * shape[1])
    return np.cumsum(flat.reshape(shape), axis=1)


def _again(rows: Ints, pairs: Ints) -> npt.NDArray[np.bool_]:
    """Whether the paragraph before has the term too."""
    kinds = int(pairs.max(initial=0)) + 1
    return np.isin(rows * kinds + pairs, (rows + 1) * kinds + pairs)


def shared_terms(source: BookProfile, mt: BookProfile) -> TermLinks:
    """The terms that both sides have as they are: names, numbers and words of one root, and some false friends."""
    both = np.intersect1d(source.terms, mt.terms)
    return TermLinks(both, both, np.full(len(both), KEPT_SHARE))


def _known(profile: BookProfile, terms: Ints) -> tuple[Ints, Ints]:
    """Which paragraphs of the profile have which of these terms, by their places."""
    if not len(terms):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    order = np.argsort(terms, kind="stable")
    ranked = terms[order]
    at = np.minimum(np.searchsorted(ranked, profile.terms), len(terms) - 1)
    hit = ranked[at] == profile.terms
    return profile.places()[hit], order[at[hit]]


def matching_places(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All places in the one and in the other that hold the same."""
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    start, end = np.searchsorted(ranked, left, "left"), np.searchsorted(ranked, left, "right")
    counts = end - start
    mine = np.repeat(np.arange(len(left)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return mine, order[np.repeat(start, counts) + offsets]

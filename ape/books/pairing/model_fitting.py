"""What the surest pairs of a book teach about the rest of it: proportions, habits, and words that stand for each other.

No dictionary is needed: that 罗德 is Rhode shows in every second paragraph. Words are linked one to one, the strongest
link first (competitive linking, Melamed 2000), by the log-likelihood ratio of their being together (Dunning 1993).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ape.books.pairing.aligner import Bead
from ape.books.pairing.pair_scores import (
    KEPT_SHARE,
    SLACK,
    PairModel,
    TermLinks,
    length_narrowing,
    matching_places,
    shared_terms,
)
from ape.books.pairing.profile import KINDS, BookProfile, Floats, Ints

# A bead this sure may teach.
SURE_CONFIDENCE = 0.8
# With fewer of them there is nothing to learn.
_ENOUGH = 12
# How much our expectation weighs, in beads.
_EXPECTED = 30
# Pairs of terms counted at most: the surest beads, evenly thinned, until so many.
_MOST_PAIRS = 600_000
_MOST_LINKS = 200_000
# A link is believed that was seen so often and is so unlikely by chance.
_SEEN = 3
_COMMON = 0.3
_UNLIKELY = 15.0


def fit_pair_model(
    source: BookProfile, mt: BookProfile, beads: Sequence[Bead], before: PairModel
) -> PairModel:
    """The model that the sure beads among these suggest, or the one before where they are too few."""
    sure = [bead for bead in beads if bead.paired and bead.confidence >= SURE_CONFIDENCE]
    single = np.array(
        [
            (bead.source, bead.mt)
            for bead in sure
            if bead.source_end - bead.source == bead.mt_end - bead.mt == 1
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    if len(single) < _ENOUGH:
        return before
    ratio, spread = _proportion(source.sizes[single[:, 0]], mt.sizes[single[:, 1]])
    signs = tuple(
        _counts(source.signs[single[:, 0], sign], mt.signs[single[:, 1], sign], kinds)
        for sign, kinds in enumerate(KINDS)
    )
    return PairModel(ratio, spread, _habits(beads, before), signs, _terms(source, mt, single))


def _proportion(source: Floats, mt: Floats) -> tuple[float, float]:
    ratio = float(mt.sum() / max(source.sum(), 1.0))
    away = np.log((mt + SLACK) / (ratio * source + SLACK)) / length_narrowing(ratio * source)
    measured = 1.4826 * float(np.median(np.abs(away)))
    expected = PairModel().spread
    spread = np.sqrt((len(source) * measured**2 + _EXPECTED * expected**2) / (len(source) + _EXPECTED))
    return ratio, max(float(spread), 0.05)


def _habits(beads: Sequence[Bead], before: PairModel) -> dict[tuple[int, int], float]:
    """How often each bead is there, by how often it seems to be."""
    counts = {bead: _EXPECTED * share for bead, share in before.beads.items()}
    for bead in beads:
        counts[bead.source_end - bead.source, bead.mt_end - bead.mt] += bead.confidence
    total = sum(counts.values())
    return {bead: count / total for bead, count in counts.items()}


def _counts(source: Ints, mt: Ints, kinds: int) -> Floats:
    return np.bincount(source * kinds + mt, minlength=kinds * kinds).reshape(kinds, kinds).astype(float)


def _terms(source: BookProfile, mt: BookProfile, pairs: Ints) -> TermLinks:
    """Links learned, and what is the same on both sides, with how often each is kept."""
    shown = _thinned(source, mt, pairs)
    ours, theirs = _Words(source, shown[:, 0]), _Words(mt, shown[:, 1])
    mine, yours = matching_places(ours.beads, theirs.beads)
    keys, together = np.unique(
        ours.words[mine] * (len(theirs.names) + 1) + theirs.words[yours], return_counts=True
    )
    here, there = keys // (len(theirs.names) + 1), keys % (len(theirs.names) + 1)
    linked = _links(
        here, there, _surprise(together, ours.seen[here], theirs.seen[there], len(shown)), together
    )
    # One time less than it was seen: the pairs it was learned from are among those it will speak for.
    kept = (together[linked] - 1) / (ours.seen[here[linked]] + 1)
    names, mt_names = ours.names[here[linked]], theirs.names[there[linked]]
    same = shared_terms(source, mt).source
    same = same[~np.isin(same, names) & ~np.isin(same, mt_names)]
    equal = np.flatnonzero(ours.names[here] == theirs.names[there])
    _, known, place = np.intersect1d(same, ours.names[here[equal]], return_indices=True)
    same_kept = np.full(len(same), KEPT_SHARE)
    same_kept[known] = (together[equal[place]] + 2 * KEPT_SHARE) / (ours.seen[here[equal[place]]] + 2)
    return TermLinks(
        np.concatenate([names, same]), np.concatenate([mt_names, same]), np.concatenate([kept, same_kept])
    )


class _Words:
    """The words of some paragraphs, each bead's by its number, without those too rare or too common to be linked."""

    def __init__(self, profile: BookProfile, paragraphs: Ints) -> None:
        bead_of = np.full(len(profile), -1)
        bead_of[paragraphs] = np.arange(len(paragraphs))
        beads = bead_of[profile.places()]
        names, words = np.unique(profile.terms[beads >= 0], return_inverse=True)
        seen = np.bincount(words, minlength=len(names))
        useful = ((seen >= _SEEN) & (seen <= _COMMON * len(paragraphs)))[words]
        self.names, self.seen = names, seen
        self.beads, self.words = beads[beads >= 0][useful], words[useful]


def _thinned(source: BookProfile, mt: BookProfile, pairs: Ints) -> Ints:
    """Every so many-th pair, so that there are not too many pairs of words to count."""
    many = np.diff(source.ends, prepend=0)[pairs[:, 0]] * np.diff(mt.ends, prepend=0)[pairs[:, 1]]
    return pairs[:: int(many.sum()) // _MOST_PAIRS + 1]


def _surprise(together: Ints, ours: Ints, theirs: Ints, total: int) -> Floats:
    """The log-likelihood ratio of seeing two words together so often; 0 where it is seldomer than by chance."""
    cells = [together, ours - together, theirs - together, total - ours - theirs + together]
    expected = [
        ours * theirs / total, ours * (total - theirs) / total, (total - ours) * theirs / total,
        (total - ours) * (total - theirs) / total,
    ]  # fmt: skip
    ratio = sum(
        np.where(cell > 0, cell * np.log(np.maximum(cell, 1) / np.maximum(by_chance, 1e-9)), 0.0)
        for cell, by_chance in zip(cells, expected, strict=True)
    )
    return np.where(together > expected[0], 2 * ratio, 0.0)


def _links(here: Ints, there: Ints, surprise: Floats, together: Ints) -> Ints:
    """Places of the links to believe: the strongest first, and each word in one only."""
    strong = np.flatnonzero((surprise >= _UNLIKELY) & (together >= _SEEN))
    order = strong[np.argsort(-surprise[strong], kind="stable")][:_MOST_LINKS]
    taken: set[int] = set()
    mt_taken: set[int] = set()
    links = []
    for place, ours, theirs in zip(order.tolist(), here[order].tolist(), there[order].tolist(), strict=True):
        if ours not in taken and theirs not in mt_taken:
            taken.add(ours)
            mt_taken.add(theirs)
            links.append(place)
    return np.array(links, dtype=np.int64)

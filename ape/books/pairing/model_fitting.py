"""Fit the pair model to the most confident pairs of a book: length ratio, bead frequencies and term links.

No dictionary is needed: 罗德 and Rhode occur together in every second paragraph. Terms are linked one to one, the
strongest link first (competitive linking, Melamed 2000), by the log-likelihood ratio of co-occurrence (Dunning 1993).
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

# The confidence from which a bead is used for fitting.
SURE_CONFIDENCE = 0.8
# The fewest confident beads to fit a model.
_ENOUGH = 12
# The weight of the prior, in beads.
_EXPECTED = 30
# The most pairs of terms to count; beads are evenly sampled to stay below it.
_MOST_PAIRS = 600_000
_MOST_LINKS = 200_000
# Thresholds of a link: co-occurrences, largest share of paragraphs with the term, log-likelihood ratio.
_SEEN = 3
_COMMON = 0.3
_UNLIKELY = 15.0


def fit_pair_model(source: BookProfile, mt: BookProfile, beads: Sequence[Bead], before: PairModel) -> PairModel:
    """Fit a model to the confident beads; return `before` where they are too few."""
    sure = [bead for bead in beads if bead.paired and bead.confidence >= SURE_CONFIDENCE]
    single = np.array(
        [(bead.source, bead.mt) for bead in sure if bead.source_end - bead.source == bead.mt_end - bead.mt == 1],
        dtype=np.int64,
    ).reshape(-1, 2)
    if len(single) < _ENOUGH:
        return before
    ratio, spread = _proportion(source.sizes[single[:, 0]], mt.sizes[single[:, 1]])
    signs = tuple(
        _counts(source.signs[single[:, 0], sign], mt.signs[single[:, 1], sign], kinds)
        for sign, kinds in enumerate(KINDS)
    )
    return PairModel(ratio, spread, _bead_frequencies(beads, before), signs, _terms(source, mt, single))


def _proportion(source: Floats, mt: Floats) -> tuple[float, float]:
    ratio = float(mt.sum() / max(source.sum(), 1.0))
    away = np.log((mt + SLACK) / (ratio * source + SLACK)) / length_narrowing(ratio * source)
    measured = 1.4826 * float(np.median(np.abs(away)))
    expected = PairModel().spread
    spread = np.sqrt((len(source) * measured**2 + _EXPECTED * expected**2) / (len(source) + _EXPECTED))
    return ratio, max(float(spread), 0.05)


def _bead_frequencies(beads: Sequence[Bead], before: PairModel) -> dict[tuple[int, int], float]:
    """The frequencies of bead shapes, with the previous model as prior."""
    counts = {bead: _EXPECTED * share for bead, share in before.beads.items()}
    for bead in beads:
        counts[bead.source_end - bead.source, bead.mt_end - bead.mt] += bead.confidence
    total = sum(counts.values())
    return {bead: count / total for bead, count in counts.items()}


def _counts(source: Ints, mt: Ints, kinds: int) -> Floats:
    return np.bincount(source * kinds + mt, minlength=kinds * kinds).reshape(kinds, kinds).astype(float)


def _terms(source: BookProfile, mt: BookProfile, pairs: Ints) -> TermLinks:
    """Learned links and terms that are equal on both sides, each with how often it is kept."""
    sampled = _sampled(source, mt, pairs)
    ours, theirs = _Words(source, sampled[:, 0]), _Words(mt, sampled[:, 1])
    mine, yours = matching_places(ours.beads, theirs.beads)
    keys, together = np.unique(ours.words[mine] * (len(theirs.names) + 1) + theirs.words[yours], return_counts=True)
    here, there = keys // (len(theirs.names) + 1), keys % (len(theirs.names) + 1)
    linked = _links(
        here, there, _log_likelihood_ratio(together, ours.seen[here], theirs.seen[there], len(sampled)), together
    )
    # Counted once less, since the link is used to score the pairs it was learned from.
    kept = (together[linked] - 1) / (ours.seen[here[linked]] + 1)
    names, mt_names = ours.names[here[linked]], theirs.names[there[linked]]
    same = shared_terms(source, mt).source
    same = same[~np.isin(same, names) & ~np.isin(same, mt_names)]
    equal = np.flatnonzero(ours.names[here] == theirs.names[there])
    _, known, place = np.intersect1d(same, ours.names[here[equal]], return_indices=True)
    same_kept = np.full(len(same), KEPT_SHARE)
    same_kept[known] = (together[equal[place]] + 2 * KEPT_SHARE) / (ours.seen[here[equal[place]]] + 2)
    return TermLinks(np.concatenate([names, same]), np.concatenate([mt_names, same]), np.concatenate([kept, same_kept]))


class _Words:
    """The terms of some paragraphs by bead, without those too rare or too common to be linked."""

    def __init__(self, profile: BookProfile, paragraphs: Ints) -> None:
        bead_of = np.full(len(profile), -1)
        bead_of[paragraphs] = np.arange(len(paragraphs))
        beads = bead_of[profile.places()]
        names, words = np.unique(profile.terms[beads >= 0], return_inverse=True)
        seen = np.bincount(words, minlength=len(names))
        useful = ((seen >= _SEEN) & (seen <= _COMMON * len(paragraphs)))[words]
        self.names, self.seen = names, seen
        self.beads, self.words = beads[beads >= 0][useful], words[useful]


def _sampled(source: BookProfile, mt: BookProfile, pairs: Ints) -> Ints:
    """Sample the pairs evenly, to limit the number of term pairs."""
    many = np.diff(source.ends, prepend=0)[pairs[:, 0]] * np.diff(mt.ends, prepend=0)[pairs[:, 1]]
    return pairs[:: int(many.sum()) // _MOST_PAIRS + 1]


def _log_likelihood_ratio(together: Ints, ours: Ints, theirs: Ints, total: int) -> Floats:
    """The log-likelihood ratio of the co-occurrence; 0 where it is rarer than by chance."""
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


def _links(here: Ints, there: Ints, ratios: Floats, together: Ints) -> Ints:
    """Indices of the accepted links: the strongest first, each term in one link only."""
    strong = np.flatnonzero((ratios >= _UNLIKELY) & (together >= _SEEN))
    order = strong[np.argsort(-ratios[strong], kind="stable")][:_MOST_LINKS]
    taken: set[int] = set()
    mt_taken: set[int] = set()
    links = []
    for place, ours, theirs in zip(order.tolist(), here[order].tolist(), there[order].tolist(), strict=True):
        if ours not in taken and theirs not in mt_taken:
            taken.add(ours)
            mt_taken.add(theirs)
            links.append(place)
    return np.array(links, dtype=np.int64)

"""MUC, B³, CEAFm, CEAFe, BLANC and LEA, and the CoNLL F1 of three of them, as in the CoNLL scorer.

Each scorer counts a document into a few numbers and folds sums of these into recall, precision and F1: documents are
added before dividing. 0/0 is 0, as the CoNLL scorer prints it, for example MUC of singletons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from eval.linguistics.coreference.partition import Clusters, MentionKey, Partition, PrecisionRecall, build_partition
from eval.statistics.counts import FloatArray

ScorerCount: TypeAlias = Callable[[Partition, Partition], tuple[float, ...]]
ScorerFold: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""From sums (…, columns) to recall, precision and F1, each (…)."""


@dataclass(frozen=True, slots=True)
class CoreferenceScorer:
    """How to count a key and a response, and how to fold sums of counts into a score."""

    count: ScorerCount
    fold: ScorerFold


def score_clusters(name: str, key: Clusters, response: Clusters) -> PrecisionRecall:
    """Score one document with the scorer of that name."""
    return score_documents(name, [(key, response)])


def score_documents(name: str, pairs: Iterable[tuple[Clusters, Clusters]]) -> PrecisionRecall:
    """Score several documents as one; clusters are made partitions first."""
    scorer = SCORERS[name]
    rows = [scorer.count(build_partition(key), build_partition(response)) for key, response in pairs]
    recall, precision, f1 = scorer.fold(np.asarray(rows, dtype=float).sum(axis=0))
    return PrecisionRecall(float(recall), float(precision), float(f1))


def conll_f1(pairs: Iterable[tuple[Clusters, Clusters]]) -> float:
    """The mean F1 of MUC, B³ and CEAFe."""
    pairs = [(build_partition(key), build_partition(response)) for key, response in pairs]
    return float(np.mean([score_documents(name, pairs).f1 for name in ("muc", "b3", "ceafe")]))


# --- counting ----------------------------------------------------------------------------------------------------
# All but BLANC: (found of the key, all of the key, found of the response, all of the response).


def _in_both_directions(one_way: Callable[[Partition, Partition], tuple[float, float]]) -> ScorerCount:
    return lambda key, response: (*one_way(key, response), *one_way(response, key))


def _muc(of: Partition, by: Partition) -> tuple[float, float]:
    """Links that hold an entity together and survive its division by the other side (Vilain et al. 1995)."""
    place = _places(by)
    found = all_links = 0
    for entity in of:
        pieces = {place[mention] for mention in entity if mention in place}
        alone = sum(mention not in place for mention in entity)
        found += len(entity) - len(pieces) - alone
        all_links += len(entity) - 1
    return found, all_links


def _b3(of: Partition, by: Partition) -> tuple[float, float]:
    """For each mention, the share of its entity that the other side groups with it (Bagga & Baldwin 1998)."""
    place = _places(by)
    found = sum(common**2 / len(entity) for entity in of for common in _overlaps(entity, place).values())
    return found, sum(map(len, of))


def _ceaf(alike: Callable[[int, int, int], float]) -> ScorerCount:
    """The best one-to-one matching of entities by a similarity of (common, size, size) (Luo 2005)."""

    def count(key: Partition, response: Partition) -> tuple[float, ...]:
        from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

        table = np.zeros((len(key), len(response)))
        place = _places(response)
        for row, entity in enumerate(key):
            for column, common in _overlaps(entity, place).items():
                table[row, column] = alike(common, len(entity), len(response[column]))
        best = float(table[linear_sum_assignment(table, maximize=True)].sum())
        whole = (sum(alike(len(entity), len(entity), len(entity)) for entity in side) for side in (key, response))
        all_key, all_response = whole
        return best, all_key, best, all_response

    return count


def _lea(of: Partition, by: Partition) -> tuple[float, float]:
    """The share of each entity's links that is found, weighted by its size (Moosavi & Strube 2016).

    A singleton has one link to itself, which is found if it is a singleton on the other side too.
    """
    place = _places(by)
    found = 0.0
    for entity in of:
        overlaps = _overlaps(entity, place)
        if len(entity) == 1:
            found += any(len(by[other]) == 1 for other in overlaps)
        else:
            found += len(entity) * sum(map(_links, overlaps.values())) / _links(len(entity))
    return found, sum(map(len, of))


def _blanc(key: Partition, response: Partition) -> tuple[float, ...]:
    """Links and non-links: (common, key, response) of each, then the same for mentions (Luo et al. 2014)."""
    place = _places(response)
    overlaps = [_overlaps(entity, place) for entity in key]
    columns: Counter[int] = Counter()
    for overlap in overlaps:
        columns.update(overlap)
    common = sum(columns.values())
    linked = sum(_links(number) for overlap in overlaps for number in overlap.values())
    # Pairs of common mentions, less those linked on either side, plus those linked on both.
    in_key = sum(_links(sum(overlap.values())) for overlap in overlaps)
    in_response = sum(map(_links, columns.values()))
    non_links = _links(common) - in_key - in_response + linked
    sizes = [sum(map(len, side)) for side in (key, response)]
    links = [sum(_links(len(entity)) for entity in side) for side in (key, response)]
    others = [_links(size) - link for size, link in zip(sizes, links, strict=True)]
    return (linked, *links, non_links, *others, common, *sizes)


def _links(mentions: int) -> int:
    return mentions * (mentions - 1) // 2


def _places(side: Partition) -> Mapping[MentionKey, int]:
    return {mention: number for number, entity in enumerate(side) for mention in entity}


def _overlaps(entity: Iterable[MentionKey], place: Mapping[MentionKey, int]) -> Counter[int]:
    """The number of mentions that each entity of the other side shares with an entity."""
    return Counter(place[mention] for mention in entity if mention in place)


# --- folding -----------------------------------------------------------------------------------------------------


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(above, below, out=np.zeros(np.shape(below)), where=np.asarray(below) != 0)
    return quotient


def _harmonic(recall: FloatArray, precision: FloatArray) -> FloatArray:
    return _over(2 * recall * precision, recall + precision)


def _prf(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    recall, precision = _over(sums[..., 0], sums[..., 1]), _over(sums[..., 2], sums[..., 3])
    return recall, precision, _harmonic(recall, precision)


def _fold_blanc(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The mean of links and non-links, or one of them if the key has only that one.

    A key with neither is a single mention: 1 if the response has exactly that mention, else 0.
    """
    linked, non_links = (_prf(sums[..., [start, start + 1, start, start + 2]]) for start in (0, 3))
    has_linked, has_apart = sums[..., 1] > 0, sums[..., 4] > 0
    same = ((sums[..., 6] == sums[..., 7]) & (sums[..., 6] == sums[..., 8]) & (sums[..., 6] > 0)).astype(float)
    folded = [
        np.where(has_linked & has_apart, (one + other) / 2, np.where(has_linked, one, np.where(has_apart, other, same)))
        for one, other in zip(linked, non_links, strict=True)
    ]
    return folded[0], folded[1], folded[2]


SCORERS: Mapping[str, CoreferenceScorer] = {
    "muc": CoreferenceScorer(_in_both_directions(_muc), _prf),
    "b3": CoreferenceScorer(_in_both_directions(_b3), _prf),
    "ceafm": CoreferenceScorer(_ceaf(lambda common, _one, _other: common), _prf),
    "ceafe": CoreferenceScorer(_ceaf(lambda common, one, other: 2 * common / (one + other)), _prf),
    "blanc": CoreferenceScorer(_blanc, _fold_blanc),
    "lea": CoreferenceScorer(_in_both_directions(_lea), _prf),
}

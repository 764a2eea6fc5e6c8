"""Scores by the share of pronouns that the source omits, in bins of documents (Figure 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from eval.linguistics.bwb.markup import BwbMarkup
from eval.statistics.counts import FloatArray, MetricCounts
from eval.suites.bwb.statistics import pronoun_statistics

BIN_EDGES = tuple(float(edge) for edge in np.round(np.linspace(0, 1, 11), 1))


@dataclass(frozen=True, slots=True)
class OmissionBin:
    """The documents with a share from `low` to below `high` (the last bin includes 1), scored together."""

    low: float
    high: float
    documents: int
    value: float | None
    """None if the score is undefined."""


def omitted_shares(documents: Mapping[str, BwbMarkup], ids: Sequence[str]) -> FloatArray:
    """The share of omitted pronouns of each document by id; NaN without pronouns."""
    shares = (pronoun_statistics([documents[one]]).share_omitted if one in documents else None for one in ids)
    return np.asarray([np.nan if share is None else share for share in shares], dtype=float)


def score_by_omission(
    counted: MetricCounts, shares: FloatArray, edges: Sequence[float] = BIN_EDGES
) -> list[OmissionBin]:
    """The score of each non-empty bin, folded from its rows; `shares` is by document."""
    return list(_bins(counted, np.asarray(shares, dtype=float), edges))


def _bins(counted: MetricCounts, shares: FloatArray, edges: Sequence[float]) -> Iterator[OmissionBin]:
    for low, high in pairwise(edges):
        inside = (shares >= low) & ((shares < high) | (high == edges[-1]) & (shares <= high))
        if inside.any():
            value = float(counted.fold(counted.rows[inside[counted.documents]].sum(axis=0)))
            yield OmissionBin(low, high, int(inside.sum()), None if np.isnan(value) else value)

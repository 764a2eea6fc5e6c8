"""Scores as a function of how many pronouns the source leaves out: documents in bins of that share (Figure 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from eval.bwb.markup import Marked
from eval.bwb.statistics import pronoun_table
from eval.metric import Counted, Numbers

EDGES = tuple(float(edge) for edge in np.round(np.linspace(0, 1, 11), 1))


@dataclass(frozen=True, slots=True)
class Bin:
    """The documents whose share is at least `low` and under `high` (the last bin has 1 too), scored as one."""

    low: float
    high: float
    documents: int
    value: float | None
    """None where there is nothing to be measured in them."""


def omitted_shares(documents: Mapping[str, Marked], ids: Sequence[str]) -> Numbers:
    """Of each document of a corpus, by its id, the share of pronouns left out; NaN of one without pronouns."""
    shares = (pronoun_table([documents[one]]).share_omitted if one in documents else None for one in ids)
    return np.asarray([np.nan if share is None else share for share in shares], dtype=float)


def by_omission(counted: Counted, shares: Numbers, edges: Sequence[float] = EDGES) -> list[Bin]:
    """The score in each bin that has documents, folded from their rows together; `shares` is by document."""
    return list(_bins(counted, np.asarray(shares, dtype=float), edges))


def _bins(counted: Counted, shares: Numbers, edges: Sequence[float]) -> Iterator[Bin]:
    for low, high in pairwise(edges):
        inside = (shares >= low) & ((shares < high) | (high == edges[-1]) & (shares <= high))
        if inside.any():
            value = float(counted.fold(counted.rows[inside[counted.documents]].sum(axis=0)))
            yield Bin(low, high, int(inside.sum()), None if np.isnan(value) else value)

"""Entities as sets of mentions, no mention in two of them, and what a comparison of two such divisions yields."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Mention: TypeAlias = Hashable
"""Whatever tells one mention from another: a span, or a span with its sentence."""
Partition: TypeAlias = tuple[frozenset[Mention], ...]
Clusters: TypeAlias = Iterable[Collection[Mention]]


@dataclass(frozen=True, slots=True)
class Prf:
    """Recall, precision and their harmonic mean (of BLANC, the mean of two of these)."""

    recall: float
    precision: float
    f1: float


def partition(clusters: Clusters) -> Partition:
    """The clusters without repeated mentions: each stays where it comes first. What is then empty is gone.

    The CoNLL scorer does so: a response can't gain by naming a mention ten times.
    """
    seen: set[Mention] = set()
    kept = []
    for cluster in clusters:
        new = frozenset(cluster) - seen
        seen |= new
        if new:
            kept.append(new)
    return tuple(kept)


def repeated(clusters: Clusters) -> Iterator[Mention]:
    """The mentions that `partition` drops, once for each time."""
    seen: set[Mention] = set()
    for cluster in clusters:
        for mention in cluster:
            if mention in seen:
                yield mention
            seen.add(mention)

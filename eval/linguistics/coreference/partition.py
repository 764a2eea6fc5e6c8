"""Entities as sets of mentions, no mention in two of them, and what a comparison of two such divisions yields."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

MentionKey: TypeAlias = Hashable
"""Whatever tells one mention from another: a span, or a span with its sentence."""
Partition: TypeAlias = tuple[frozenset[MentionKey], ...]
Clusters: TypeAlias = Iterable[Collection[MentionKey]]


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Recall, precision and their harmonic mean (of BLANC, the mean of two of these)."""

    recall: float
    precision: float
    f1: float


def build_partition(clusters: Clusters) -> Partition:
    """The clusters without repeated mentions: each stays where it comes first. What is then empty is gone.

    The CoNLL scorer does so: a response can't gain by naming a mention ten times.
    """
    seen: set[MentionKey] = set()
    kept = []
    for cluster in clusters:
        new = frozenset(cluster) - seen
        seen |= new
        if new:
            kept.append(new)
    return tuple(kept)


def repeated_mentions(clusters: Clusters) -> Iterator[MentionKey]:
    """The mentions that `partition` drops, once for each time."""
    seen: set[MentionKey] = set()
    for cluster in clusters:
        for mention in cluster:
            if mention in seen:
                yield mention
            seen.add(mention)

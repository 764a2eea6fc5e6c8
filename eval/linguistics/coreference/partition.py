"""Partitions of mentions into entities, and the result of comparing two of them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

MentionKey: TypeAlias = Hashable
"""The identity of a mention: a span, or a span with its sentence."""
Partition: TypeAlias = tuple[frozenset[MentionKey], ...]
Clusters: TypeAlias = Iterable[Collection[MentionKey]]


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Recall, precision and their harmonic mean (for BLANC, the mean of two of these)."""

    recall: float
    precision: float
    f1: float


def build_partition(clusters: Clusters) -> Partition:
    """Remove repeated mentions, keeping the first, and then empty clusters.

    As in the CoNLL scorer, so that a response gains nothing by repeating a mention.
    """
    seen: set[MentionKey] = set()
    clusters_without_repeats = []
    for cluster in clusters:
        new = frozenset(cluster) - seen
        seen |= new
        if new:
            clusters_without_repeats.append(new)
    return tuple(clusters_without_repeats)


def repeated_mentions(clusters: Clusters) -> Iterator[MentionKey]:
    """The mentions that `build_partition` drops, once for each repetition."""
    seen: set[MentionKey] = set()
    for cluster in clusters:
        for mention in cluster:
            if mention in seen:
                yield mention
            seen.add(mention)

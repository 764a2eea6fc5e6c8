"""Consistency of names: LTCR restricted to the entities of the book's ledger.

The ledger is built from the source and the output. Within a document, each segment whose source names an entity is a
mention of it, with the one rendering that the output has there; the score is the share of pairs of mentions that are
rendered alike. The right wordings of an entity (its full name and its short forms) are alike. A segment without a known
rendering, or with two different ones, is undecided and left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from ape.ledger.links import LedgerIndex
from eval.corpus.corpus import Corpus, Document
from eval.metrics.counts_cache import count_once
from eval.metrics.ledger_names import corpus_ledger, find_rendering
from eval.metrics.metric import metric_signature
from eval.statistics.counts import MetricCounts, Unmeasured, share_fold


@dataclass(frozen=True, slots=True)
class NameConsistency:
    """The share of pairs of mentions that are rendered alike, 0 to 1."""

    name: str = "name-consistency"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each document, the pairs that are alike and all pairs."""
        pair = f"{corpus.source_language}-{corpus.target_language}"
        signature = metric_signature(self.name, ledger="source+output", languages=pair)
        rows = count_once(corpus, system, signature, lambda: _rows(corpus, system))
        if isinstance(rows, str):
            return Unmeasured(rows)
        return MetricCounts(
            np.asarray(rows, dtype=float), np.arange(len(rows)), share_fold([0], [1]), signature, unit="document"
        )


def _rows(corpus: Corpus, system: str) -> list[tuple[int, int]] | str:
    """The counts of each document, or why there are none."""
    index = corpus_ledger(corpus, lambda document, segment: document.outputs[system][segment])
    if isinstance(index, Unmeasured):
        return index.why
    return [_pairs(document, system, index, corpus.target_language) for document in corpus.documents]


def _pairs(document: Document, system: str, index: LedgerIndex, language: str) -> tuple[int, int]:
    mentions: dict[str, Counter[str]] = {}
    for source, output in zip(document.sources, document.outputs[system], strict=True):
        for entity in index.entities_in(source):
            rendering = find_rendering(output, index.wordings[entity.id], language)
            if rendering is not None:
                mentions.setdefault(entity.id, Counter())[rendering] += 1
    alike = sum(count * (count - 1) // 2 for counted in mentions.values() for count in counted.values())
    totals = (sum(counted.values()) for counted in mentions.values())
    return alike, sum(total * (total - 1) // 2 for total in totals)

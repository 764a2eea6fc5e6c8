"""Coreference: exact scorers, readers of their input, and a protocol for resolvers."""

from __future__ import annotations

from eval.linguistics.coreference.conll_reader import ConllDocument, read_conll
from eval.linguistics.coreference.partition import PrecisionRecall, build_partition, repeated_mentions
from eval.linguistics.coreference.scorers import SCORERS, conll_f1, score_clusters, score_documents

__all__ = [
    "SCORERS",
    "ConllDocument",
    "PrecisionRecall",
    "build_partition",
    "conll_f1",
    "read_conll",
    "repeated_mentions",
    "score_clusters",
    "score_documents",
]

"""Who is who: the scorers of coreference, exact, and readers of what they compare. A resolver is a plug-in."""

from __future__ import annotations

from eval.coreference.conll import ConllDocument, read_conll
from eval.coreference.partition import Prf, partition, repeated
from eval.coreference.scorers import SCORERS, conll_f1, score, score_documents

__all__ = [
    "SCORERS",
    "ConllDocument",
    "Prf",
    "conll_f1",
    "partition",
    "read_conll",
    "repeated",
    "score",
    "score_documents",
]

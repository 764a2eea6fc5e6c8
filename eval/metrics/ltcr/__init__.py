"""LTCR: whether a word that the source repeats is translated alike in the whole document."""

from eval.metrics.ltcr.chains import AnnotatedChains, LexicalChain, read_annotated_chains, repeated_word_chains
from eval.metrics.ltcr.inconsistency import Inconsistency, RenderedOccurrence
from eval.metrics.ltcr.metric import Ltcr

__all__ = [
    "AnnotatedChains",
    "Inconsistency",
    "LexicalChain",
    "Ltcr",
    "RenderedOccurrence",
    "read_annotated_chains",
    "repeated_word_chains",
]

"""Linguistic annotators behind one protocol, cached by content."""

from eval.linguistics.annotators.cache import CachedAnnotator, default_annotation_folder, use_annotation_cache
from eval.linguistics.annotators.protocol import Annotation, Annotator, NamedEntity, Token
from eval.linguistics.annotators.selection import NoAnnotatorError, annotator_for

__all__ = [
    "Annotation",
    "Annotator",
    "CachedAnnotator",
    "NamedEntity",
    "NoAnnotatorError",
    "Token",
    "annotator_for",
    "default_annotation_folder",
    "use_annotation_cache",
]

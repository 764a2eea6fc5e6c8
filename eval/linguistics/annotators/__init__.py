"""Linguistic annotators behind one protocol, cached by content."""

from eval.linguistics.annotators.cache import CachedAnnotator, default_annotation_folder, use_annotation_cache
from eval.linguistics.annotators.protocol import Annotation, Annotator, EntityMention, NamedEntity, Token
from eval.linguistics.annotators.selection import NoAnnotatorError, annotator_for, use_annotator

__all__ = [
    "Annotation",
    "Annotator",
    "CachedAnnotator",
    "EntityMention",
    "NamedEntity",
    "NoAnnotatorError",
    "Token",
    "annotator_for",
    "default_annotation_folder",
    "use_annotation_cache",
    "use_annotator",
]

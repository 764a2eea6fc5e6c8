"""Linguistic annotation: one protocol, several annotators, cached by content."""

from eval.annotate.cache import Cached, caching, default_folder
from eval.annotate.choose import NoAnnotator, annotator_for
from eval.annotate.fitting import fitting
from eval.annotate.protocol import Annotation, Annotator, Entity, Token

__all__ = [
    "Annotation",
    "Annotator",
    "Cached",
    "Entity",
    "NoAnnotator",
    "Token",
    "annotator_for",
    "caching",
    "default_folder",
    "fitting",
]

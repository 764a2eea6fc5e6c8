"""Coreference out of the BWB mark-up: all mentions of an entity's number are one cluster."""

from __future__ import annotations

from eval.linguistics.bwb.markup import BwbMarkup
from eval.linguistics.coreference.partition import Clusters


def clusters_from_markup(marked: BwbMarkup) -> Clusters:
    """By entity in the order in which they appear; a mention is its line and its characters. Speakers don't count."""
    return tuple(
        tuple((span.line, span.start, span.end) for span in spans) for spans in marked.chains().values()
    )

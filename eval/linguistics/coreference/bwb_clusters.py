"""Coreference clusters from BWB mark-up: all mentions with one entity number."""

from __future__ import annotations

from eval.linguistics.bwb.markup import BwbMarkup
from eval.linguistics.coreference.partition import Clusters


def clusters_from_markup(marked: BwbMarkup) -> Clusters:
    """Clusters in order of first mention; a mention is its line and characters. Speakers are not mentions."""
    return tuple(tuple((span.line, span.start, span.end) for span in spans) for spans in marked.chains().values())

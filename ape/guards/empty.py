"""A draft without words."""

from __future__ import annotations

from ape.guards.messages import reject
from ape.guards.text_features import passage_features
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment


def empty(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft without words if the MT has words, or without any text if the MT has only marks."""
    _, mt, new = passage_features(segment, draft)
    if mt.words and not new.words:
        return [reject("empty", "The draft has no words.")]
    if segment.mt.strip() and not draft.text.strip():
        return [reject("empty", "The draft is empty.")]
    return []

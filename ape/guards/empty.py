"""A draft that says nothing."""

from __future__ import annotations

from ape.guards.reading import readings
from ape.guards.wording import reject
from ape.segment import Draft, Segment
from ape.verdict import Finding


def empty(segment: Segment, draft: Draft) -> list[Finding]:
    """No words where the MT has some, or nothing at all where the MT has marks."""
    _, mt, new = readings(segment, draft)
    if mt.words and not new.words:
        return [reject("empty", "The draft has no words.")]
    if segment.mt.strip() and not draft.text.strip():
        return [reject("empty", "The draft is empty.")]
    return []

"""A draft too short or too long for its passage."""

from __future__ import annotations

from ape.guards.messages import reject
from ape.guards.thresholds import pair_thresholds
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.repetition import collapse_loops
from ape.text.size import text_size

# Added to both sizes, so that "Yes." may become "Yes, of course." but a paragraph may not double.
_SLACK = 20


def length(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject a draft whose length is out of bounds compared with both the MT and the source.

    A draft that is long for the MT but right for the source repairs an omission. One that is right for the MT but not
    for the source keeps the unusual length of the MT. Both are acceptable.
    """
    limits = pair_thresholds(segment.source_language, segment.target_language)
    new = text_size(draft.text) + _SLACK
    by_mt = new / (text_size(segment.mt) + _SLACK)
    by_source = new / (text_size(segment.source) * limits.target_per_source + _SLACK)
    shares = f"{by_mt:.0%} of the length of the MT and {by_source:.0%} of the length expected for the source"
    if max(by_mt, by_source) < limits.shortest and not _only_lost_loops(segment, new, limits.shortest):
        return [reject("length", f"The draft is too short: {shares}.")]
    if min(by_mt, by_source) > limits.longest:
        return [reject("length", f"The draft is too long: {shares}.")]
    return []


def _only_lost_loops(segment: Segment, new: int, shortest: float) -> bool:
    """Whether the draft is long enough once each loop of the MT is cut to one round."""
    once = text_size(collapse_loops(segment.mt, segment.source))
    return once < text_size(segment.mt) and new / (once + _SLACK) >= shortest

"""Characters in a draft that no book has."""

from __future__ import annotations

from ape.guards.wording import reject
from ape.intake import UNREADABLE
from ape.segment import Draft, Segment
from ape.verdict import Finding

LOST_BYTES = "\ufffd"


def garbled(segment: Segment, draft: Draft) -> list[Finding]:
    """A control character, half a character, or the sign for bytes that were lost, where the MT has no such thing."""
    found = UNREADABLE.search(draft.text)
    place = found.start() if found else draft.text.find(LOST_BYTES)
    if place < 0 or draft.text[place] in segment.mt:
        return []
    code = f"U+{ord(draft.text[place]):04X}"
    return [reject("garbled", f"The draft has the unreadable character {code} at position {place}.")]

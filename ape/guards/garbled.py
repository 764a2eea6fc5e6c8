"""Unreadable or invisible characters in a draft."""

from __future__ import annotations

import re

import regex

from ape.guards.messages import reject
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.characters import UNREADABLE_CHARACTER

REPLACEMENT_CHARACTER = "\ufffd"
# Soft hyphens, zero-width spaces, directional marks and joiners.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
# Joiners are part of Persian, Indic scripts and emoji sequences; between other letters they are noise.
_JOINERS = "\u200c\u200d"
_JOINED = regex.compile(r"[\p{Arabic}\p{Syriac}\p{Mongolian}\p{M}\p{Emoji_Presentation}\p{Extended_Pictographic}]")


def garbled(segment: Segment, draft: Draft) -> list[Finding]:
    """Reject control, surrogate, replacement and invisible characters that are new to the passage."""
    found = UNREADABLE_CHARACTER.search(draft.text)
    position = found.start() if found else draft.text.find(REPLACEMENT_CHARACTER)
    if position >= 0 and draft.text[position] not in segment.mt:
        return [reject("garbled", f"The draft contains the unreadable character {_code(draft.text, position)}.")]
    position = _find_invisible(segment, draft.text)
    if position >= 0:
        return [reject("garbled", f"The draft contains the invisible character {_code(draft.text, position)}.")]
    return []


def _find_invisible(segment: Segment, text: str) -> int:
    """The position of the first invisible character that is new to the passage, or -1."""
    for match in _INVISIBLE.finditer(text) if not text.isascii() else ():
        sign, position = match.group(), match.start()
        joins = sign in _JOINERS and position > 0 and _JOINED.match(text[position - 1])
        if not (joins or sign in segment.mt or sign in segment.source):
            return int(position)
    return -1


def _code(text: str, position: int) -> str:
    return f"U+{ord(text[position]):04X} at position {position}"

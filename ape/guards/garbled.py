"""Unreadable or invisible characters in a draft."""

from __future__ import annotations

import re

import regex

from ape.guards.messages import reject
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.text.characters import UNREADABLE_CHARACTER

REPLACEMENT_CHARACTER = "\ufffd"
# Soft hyphens, spaces of no width, marks that turn the direction of writing, and the joiners.
_UNSEEN = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
# Joiners belong into Persian, the scripts of India and joined emoji; between other letters they are noise.
_JOINERS = "\u200c\u200d"
_JOINED = regex.compile(
    r"[\p{Arabic}\p{Syriac}\p{Mongolian}\p{M}\p{Emoji_Presentation}\p{Extended_Pictographic}]"
)


def garbled(segment: Segment, draft: Draft) -> list[Finding]:
    """A control character, half a character, or the sign for bytes that were lost, where the MT has no such thing.

    And what can't be seen at all: none of it may be new to the passage.
    """
    found = UNREADABLE_CHARACTER.search(draft.text)
    place = found.start() if found else draft.text.find(REPLACEMENT_CHARACTER)
    if place >= 0 and draft.text[place] not in segment.mt:
        return [reject("garbled", f"The draft has the unreadable character {_code(draft.text, place)}.")]
    place = _unseen(segment, draft.text)
    if place >= 0:
        return [reject("garbled", f"The draft has the invisible character {_code(draft.text, place)}.")]
    return []


def _unseen(segment: Segment, text: str) -> int:
    """Where the first invisible character stands that is new to the passage, or -1."""
    for match in _UNSEEN.finditer(text) if not text.isascii() else ():
        sign, place = match.group(), match.start()
        joins = sign in _JOINERS and place > 0 and _JOINED.match(text[place - 1])
        if not (joins or sign in segment.mt or sign in segment.source):
            return int(place)
    return -1


def _code(text: str, place: int) -> str:
    return f"U+{ord(text[place]):04X} at position {place}"

"""Quotation marks and brackets that open and never close, or close and never opened."""

from __future__ import annotations

import re

import regex

from ape.guards.messages import quote, reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

_MARKS = re.compile('["“”„«»「」『』（）()\\[\\]《》]')
_QUOTES = re.compile('["“”„«»「」『』]')
# What may stand for them: single marks that are no apostrophes, and the dash that opens direct speech.
_SPEECH = regex.compile(r"""["“”„«»「」『』‘‹›]|(?<!\w)'|^\s*[—–-]|[.!?]\s[—–-]""", regex.MULTILINE)
_PAIRS = {"「": "」", "『": "』", "（": "）", "(": ")", "[": "]", "《": "》"}
_OPENING = {closing: opening for opening, closing in _PAIRS.items()}
_WESTERN = frozenset('"“”„«»')


def quotes(segment: Segment, draft: Draft) -> list[Finding]:
    """Marks that do not pair in the draft though they do in the MT; a fault only where the source's pair too."""
    quoting = all(map(_QUOTES.search, (segment.mt, segment.source)))
    if quoting and not (_QUOTES.search(draft.text) or _SPEECH.search(draft.text)):
        return [warn("quotes", "The quotation marks of the source and the MT are gone.")]
    unpaired = _unpaired(draft.text)
    if not unpaired or _unpaired(segment.mt):
        return []
    message = f"A quotation mark or bracket has lost its partner: {quote(unpaired)}; in the MT they pair."
    if _unpaired(segment.source):
        return [warn("quotes", message)]
    return [reject("quotes", message)]


def _unpaired(text: str) -> str:
    """The first mark without a partner, with the words after it, or nothing.

    Western quotation marks are told by kind, not direction: “…”, „…“, »…«, «…» and "…" are all in use.
    """
    western: list[re.Match[str]] = []
    open_marks: list[re.Match[str]] = []
    for match in _MARKS.finditer(text):
        mark = match.group()
        if mark in _WESTERN:
            western.append(match)
        elif mark in _PAIRS:
            open_marks.append(match)
        elif open_marks and open_marks[-1].group() == _OPENING[mark]:
            open_marks.pop()
        else:
            return text[match.start() : match.start() + 30]
    unpaired = open_marks or (western[-1:] if len(western) % 2 else [])
    return text[unpaired[0].start() : unpaired[0].start() + 30] if unpaired else ""

"""Unbalanced quotation marks and brackets."""

from __future__ import annotations

import re

import regex

from ape.guards.messages import quote, reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

_MARKS = re.compile('["“”„«»「」『』（）()\\[\\]《》]')
_QUOTES = re.compile('["“”„«»「」『』]')
# Alternatives to double quotation marks: single marks that are not apostrophes, and the dash before direct speech.
_SPEECH = regex.compile(r"""["“”„«»「」『』‘‹›]|(?<!\w)'|^\s*[—–-]|[.!?]\s[—–-]""", regex.MULTILINE)
_PAIRS = {"「": "」", "『": "』", "（": "）", "(": ")", "[": "]", "《": "》"}
_OPENING = {closing: opening for opening, closing in _PAIRS.items()}
_WESTERN = frozenset('"“”„«»')


def quotes(segment: Segment, draft: Draft) -> list[Finding]:
    """Find marks that are balanced in the MT and not in the draft; reject only if the source is balanced too."""
    has_quotes = all(map(_QUOTES.search, (segment.mt, segment.source)))
    if has_quotes and not (_QUOTES.search(draft.text) or _SPEECH.search(draft.text)):
        return [warn("quotes", "The source and the MT have quotation marks; the draft has none.")]
    unpaired = _unpaired(draft.text)
    if not unpaired or _unpaired(segment.mt):
        return []
    message = f"A quotation mark or bracket has no counterpart, unlike in the MT: {quote(unpaired)}."
    if _unpaired(segment.source):
        return [warn("quotes", message)]
    return [reject("quotes", message)]


def _unpaired(text: str) -> str:
    """The first mark without a counterpart, with the text after it, or "".

    Western quotation marks are only counted, since languages use them in either direction: “…”, „…“, »…«, «…», "…".
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

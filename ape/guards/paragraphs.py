"""Paragraph breaks lost or invented."""

from __future__ import annotations

import regex

from ape.guards.messages import reject, warn
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment

_BREAK = regex.compile(r"[^\S\n]*\n(?:\s*\n)?\s*")


def paragraphs(segment: Segment, draft: Draft) -> list[Finding]:
    """Find a number of lines that differs from both the MT and the source."""
    before, after = _lines(segment.mt), _lines(draft.text)
    if after in (before, _lines(segment.source)):
        return []
    unit = "paragraph or line" if after == 1 else "paragraphs or lines"
    message = f"The draft has {after} {unit}; the MT has {before}."
    if before == 1 and after > 2:
        return [reject("paragraphs", message)]
    return [warn("paragraphs", message)]


def _lines(text: str) -> int:
    return len(_BREAK.findall(text.strip())) + 1 if "\n" in text else 1

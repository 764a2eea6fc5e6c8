"""Checks before a passage is processed: refuse what can't be edited, and find what needs no model."""

from __future__ import annotations

from collections.abc import Iterator

from ape.errors import InputError, TooLong
from ape.passage.options import refuse_long_glossary
from ape.passage.result import Finding, Severity
from ape.passage.segment import Segment
from ape.text.characters import UNREADABLE_CHARACTER
from ape.text.tokens import words


def refuse_unreadable(segment: Segment) -> None:
    """Raise InputError for a blank side or an unreadable character, naming the field and the position."""
    for side, text in (("source", segment.source), ("mt", segment.mt)):
        if not text.strip():
            raise InputError(f"{side} is blank. Give the passage and its machine translation.", field=side)
    refuse_long_glossary(segment.glossary)
    for name, text in _texts(segment):
        if found := UNREADABLE_CHARACTER.search(text):
            raise InputError(
                f"{name} has the unreadable character U+{ord(found.group()):04X} at position {found.start()}. "
                "Remove it.",
                field=name,
            )


def _texts(segment: Segment) -> Iterator[tuple[str, str]]:
    yield "source", segment.source
    yield "mt", segment.mt
    yield "instructions", segment.instructions
    for pair in segment.context:
        yield from (("context", pair.source), ("context", pair.target))
    for entry in segment.glossary:
        yield from (("glossary", text) for text in entry)


def refuse_too_many_characters(source: str, mt: str, limit: int) -> None:
    """Raise TooLong if a side of the passage has more characters than the limit."""
    for field, text in (("source", source), ("mt", mt)):
        if len(text) > limit:
            raise TooLong(
                f"{field} has {len(text):,} characters; at most {limit:,} are allowed. Split it at a paragraph.",
                actual=len(text),
                limit=limit,
                field=field,
            )


def find_skip_reason(segment: Segment) -> Finding | None:
    """Why the passage needs no model: the MT has no words, or equals the source."""
    count = len(words(segment.mt))
    if not count:
        message = "The MT has no words, only punctuation, and is kept as it is."
        return Finding("wordless", Severity.WARN, message)
    if segment.mt.strip() != segment.source.strip():
        return None
    if count < 4:
        message = "The MT equals the source (perhaps a name or a number) and is kept as it is."
        return Finding("untranslated", Severity.WARN, message)
    message = "The MT is the source text: there is no translation to repair. Translate it first."
    return Finding("untranslated", Severity.REJECT, message)

"""What can be worked on: refuse the unreadable and what does not fit, and tell what needs no model."""

from __future__ import annotations

from collections.abc import Iterator

from ape.errors import InputError
from ape.passage.result import Finding, Severity
from ape.passage.segment import Segment
from ape.text.characters import UNREADABLE_CHARACTER
from ape.text.tokens import words


def refuse_unreadable(segment: Segment) -> None:
    """Raise for a blank side, or for characters that no book has, naming the field and the place."""
    for side, text in (("source", segment.source), ("mt", segment.mt)):
        if not text.strip():
            raise InputError(f"{side} is blank. Give the passage and its machine translation.", field=side)
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


def find_skip_reason(segment: Segment) -> Finding | None:
    """Why no model need be asked: the MT says nothing, or it is the source over again."""
    count = len(words(segment.mt))
    if not count:
        message = "The passage has no words, only marks, and is kept as it is."
        return Finding("wordless", Severity.WARN, message)
    if segment.mt.strip() != segment.source.strip():
        return None
    if count < 4:
        message = "The MT is the same as the source (a name or a number, perhaps) and is kept as it is."
        return Finding("untranslated", Severity.WARN, message)
    message = "The MT is the source text itself: there is no translation to repair. Translate it first."
    return Finding("untranslated", Severity.REJECT, message)

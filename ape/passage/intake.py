"""What can be worked on: refuse the unreadable and what does not fit, and tell what needs no model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ape.engines.protocol import Engine, Model
from ape.errors import InputError, TooLong
from ape.passage.result import Finding, Severity
from ape.passage.segment import Segment
from ape.text.tokens import words
from prompts import Prompt

# Control characters, and halves of characters that no encoding has alone.
UNREADABLE_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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


async def refuse_window_overflow(segment: Segment, prompt: Prompt, engine: Engine, model: Model) -> None:
    """Raise where the question and an answer as long as the MT need more tokens than the model's window."""
    if model.window is None:
        return
    text = prompt.text
    if _most_tokens(text) + _most_tokens(segment.mt) <= model.window:
        return
    asked, answer = await engine.count(text), await engine.count(segment.mt)
    if asked is None or answer is None:
        return
    # The chat template adds a few control tokens to each message.
    needed = asked + answer + (0 if isinstance(prompt.body, str) else 8 * len(prompt.body))
    if needed > model.window:
        raise TooLong(
            f"The passage needs {needed:,} tokens (its question {asked:,}, an answer as long as the MT {answer:,}), "
            f"and the window of {model.name} holds {model.window:,}. Split it at a paragraph or a sentence.",
            actual=needed,
            limit=model.window,
            field="mt",
        )


def _most_tokens(text: str) -> int:
    """More tokens than any byte-level vocabulary can make of the text, without asking."""
    return len(text.encode("utf-8", "replace")) + 64

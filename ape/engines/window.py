"""Refuse a passage that does not fit the context window of the model."""

from __future__ import annotations

from ape.engines.protocol import Engine, Model
from ape.errors import TooLong
from ape.passage.segment import Segment
from prompts import Prompt


async def refuse_window_overflow(segment: Segment, prompt: Prompt, engine: Engine, model: Model) -> None:
    """Raise TooLong if the prompt and an answer as long as the MT need more tokens than the window."""
    if model.window is None:
        return
    text = prompt.text
    if _max_tokens(text) + _max_tokens(segment.mt) <= model.window:
        return
    question, answer = await engine.count(text), await engine.count(segment.mt)
    if question is None or answer is None:
        return
    # The chat template adds a few control tokens to each message.
    needed = question + answer + (0 if isinstance(prompt.body, str) else 8 * len(prompt.body))
    if needed > model.window:
        raise TooLong(
            f"The passage needs {needed:,} tokens (the prompt {question:,}, an answer as long as the MT {answer:,}), "
            f"and the window of {model.name} holds {model.window:,}. Split it at a paragraph or a sentence.",
            actual=needed,
            limit=model.window,
            field="mt",
        )


def _max_tokens(text: str) -> int:
    """An upper bound on the tokens of a text in any byte-level vocabulary."""
    return len(text.encode("utf-8", "replace")) + 64

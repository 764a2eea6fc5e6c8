"""A question about a passage, and the prompt that a format makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prompts.escaping import EscapedText

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Question:
    """All that a prompt may speak of. Languages are names ("French"), ready to be read."""

    source: str
    mt: str
    source_language: str
    target_language: str
    earlier: tuple[tuple[str, str], ...] = ()
    glossary: tuple[tuple[str, str], ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, the name of the format with its hash, and the MT as the model sees it.

    `body` is a chat, or a text for the model to go on from. `unsaid` names what the question had and the format has
    no place for.
    """

    body: tuple[Message, ...] | str
    fingerprint: str
    mt: EscapedText
    opening: str
    stop: tuple[str, ...]
    unsaid: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All of it, to be counted."""
        return self.body if isinstance(self.body, str) else "\n".join(turn.content for turn in self.body)

    def read(self, reply: str) -> str:
        """The draft in a reply: without the delimiters around it, and with those of the MT itself restored.

        Only delimiters at the very ends are taken off. Whatever else stands beside the passage is left for the
        guards to refuse.
        """
        text = reply.strip().removeprefix(self.opening)
        for stop in self.stop:
            text = text.removesuffix(stop)
        return self.mt.restore(text.strip())

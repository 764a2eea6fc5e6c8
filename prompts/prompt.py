"""A question about a passage, the prompt that a format makes of it, and the interface of a format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

from prompts.escaping import EscapedText

Role = Literal["system", "user", "assistant"]
_LABEL = re.compile(r"\ATranslation:[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class Question:
    """Everything a prompt may mention about a passage. Languages are English names ("French")."""

    source: str
    mt: str
    source_language: str
    target_language: str
    context: tuple[tuple[str, str], ...] = ()
    glossary: tuple[tuple[str, str], ...] = ()
    instructions: str = ""
    # The people of the passage and the pronoun of each: ("Mathilde", "she").
    cast: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered question: a chat, or a text for the model to continue.

    `mt` is the MT as the model sees it. `unused_fields` names the fields of the question that the format ignores.
    """

    body: tuple[Message, ...] | str
    fingerprint: str
    mt: EscapedText
    opening: str
    stop: tuple[str, ...]
    unused_fields: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole prompt as one string, for counting tokens."""
        return self.body if isinstance(self.body, str) else "\n".join(turn.content for turn in self.body)

    @property
    def unedited_reply(self) -> str:
        """The reply that leaves the MT as it is."""
        return "\n".join((self.opening, self.mt.text, *self.stop[:1])) if self.opening else self.mt.text

    def read(self, reply: str) -> str:
        """Extract the draft from a reply: strip the format's delimiters and restore those of the MT.

        Delimiters are stripped at the two ends only; so is a line “Translation:” that some models write instead.
        Other text around the passage is left for the guards to reject.
        """
        text = _LABEL.sub("", reply.strip()).removeprefix(self.opening)
        for stop in self.stop:
            text = text.removesuffix(stop)
        return self.mt.restore(text.strip())


class PromptFormat(Protocol):
    """How a question is written for a model, and how its reply is read."""

    @property
    def name(self) -> str:
        """The name of the format, as models and adapters declare it."""
        ...

    @property
    def fingerprint(self) -> str:
        """The name with a hash of the content, as `chat@3f2a9c41d7e0`: another hash is another format."""
        ...

    @property
    def is_chat(self) -> bool:
        """Whether the prompt is a list of messages rather than a text to continue."""
        ...

    @property
    def stop(self) -> tuple[str, ...]:
        """The strings that end a draft."""
        ...

    @property
    def separators(self) -> tuple[str, ...]:
        """The strings between the parts of the prompt; none for a chat."""
        ...

    @property
    def prompt_words(self) -> str:
        """The format's own wording, examples included, which no draft should repeat; "" if there is none."""
        ...

    @property
    def example_words(self) -> str:
        """The wording of its worked examples alone; "" if there are none."""
        ...

    @property
    def serving_instructions(self) -> str:
        """How to query a model of this format on any server, in Markdown."""
        ...

    def render(self, question: Question) -> Prompt:
        """Render the question as a prompt."""
        ...

    def completion(self, question: Question, human: str) -> str:
        """The answer that a model is trained to give, without the end token."""
        ...

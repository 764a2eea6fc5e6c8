"""An example as a row of chat: the turns that serving sends, and the answer that it reads back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from finetune.data.example import Example
from prompts import Message, Prompt, escape_delimiters, render

ChatRowDict = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class ChatExample:
    """What a model is asked about an example, and what it is to answer."""

    turns: tuple[Message, ...]
    answer: str
    draft: str
    """The answer as serving will read it."""

    @property
    def row(self) -> ChatRowDict:
        """As the API wants it. A worked example in the prompt is read by the model, and not trained on."""
        asked = [_turn(message, weight=0) for message in self.turns]
        return {"messages": [*asked, _turn(Message("assistant", self.answer), weight=1)]}


def make_chat_example(example: Example) -> ChatExample:
    """The example in the `chat` format."""
    question = example.question
    # As `post_edit` does: what surrounds a passage is put back after editing, and never shown to a model.
    prompt = render("chat", replace(question, source=question.source.strip(), mt=question.mt.strip()))
    assert not isinstance(prompt.body, str)
    answer = chat_answer(prompt, example.human)
    return ChatExample(prompt.body, answer, prompt.read(answer))


def chat_answer(prompt: Prompt, human: str) -> str:
    """The translation between the delimiters of the prompt, with the MT's own signs as the prompt shows them."""
    text = human.strip()
    for look_alike, original in sorted(prompt.mt.replaced, key=lambda pair: -len(pair[1])):
        text = text.replace(original, look_alike)
    return "\n".join((prompt.opening, escape_delimiters(text).text, *prompt.stop))


def _turn(message: Message, *, weight: int) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    return turn | {"weight": weight} if message.role == "assistant" else turn

"""Chat rows for training: the messages that serving sends, and the answer it expects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from finetune.data.example import Example
from prompts import CHAT, Message

ChatRowDict = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class ChatExample:
    """The messages and the expected answer of an example."""

    turns: tuple[Message, ...]
    answer: str
    draft: str
    """The answer as serving parses it."""

    @property
    def row(self) -> ChatRowDict:
        """The row in the API's format; assistant messages within the prompt have weight 0 and are not trained on."""
        prompt = [_turn(message, weight=0) for message in self.turns]
        return {"messages": [*prompt, _turn(Message("assistant", self.answer), weight=1)]}


def make_chat_example(example: Example) -> ChatExample:
    """The example in the `chat` format."""
    # As in `post_edit`: space around a passage is put back after editing and never shown to a model.
    question = replace(example.question, source=example.question.source.strip(), mt=example.question.mt.strip())
    prompt = CHAT.render(question)
    assert not isinstance(prompt.body, str)
    answer = CHAT.completion(question, example.human)
    return ChatExample(prompt.body, answer, prompt.read(answer))


def _turn(message: Message, *, weight: int) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    return turn | {"weight": weight} if message.role == "assistant" else turn

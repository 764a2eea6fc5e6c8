"""Validate chat rows before upload: what the API would refuse or train on wrongly."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ape.text.token_estimate import TokenRange, estimate_tokens
from finetune.data.example import Example
from finetune.hosted.chat_rows import ChatExample, ChatRowDict

MIN_EXAMPLES = 10
MAX_FILE_BYTES = 512 * 1024 * 1024
# Maximum tokens per example at OpenAI; the last entry is for all other models.
MAX_TOKENS_BY_BASE = {"gpt-3.5-turbo": 16_385, "": 65_536}
# Extra tokens per message and per example.
_TOKENS_PER_TURN, _TOKENS_PER_ROW = 4, 3
# OpenAI's vocabulary has 200,000 entries, for which the low end of our estimates is made; languages that it is less
# used to take up to this much more.
_ESTIMATE_MARGIN = 1.8


class ChatTurn(BaseModel):
    """A chat message. Only assistant messages are trained on, unless their weight is 0."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    role: Literal["system", "user", "assistant"]
    content: str
    weight: Literal[0, 1] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not self.content.strip():
            raise ValueError(f"the {self.role}'s turn is empty")
        if self.weight is not None and self.role != "assistant":
            raise ValueError(f"the {self.role}'s turn has a weight, which only the assistant's can have")
        return self


class ChatRow(BaseModel):
    """A row of the file: an optional system message, then user and assistant in turn; the last is trained on."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    messages: list[ChatTurn]

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        roles = [turn.role for turn in self.messages]
        talk = roles[1:] if roles[:1] == ["system"] else roles
        if not talk or talk != ["user", "assistant"] * (len(talk) // 2):
            raise ValueError(f"the turns are {', '.join(roles) or 'none'}, not user and assistant in turn")
        if self.messages[-1].weight == 0:
            raise ValueError("the last answer has the weight 0, so that nothing is learnt")
        return self


def find_row_error(row: ChatRowDict) -> str | None:
    """Describe what is wrong with a row; None if it is valid."""
    try:
        ChatRow.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        return said if first["type"] == "value_error" else f"{place}: {said}"
    return None


def find_example_error(example: Example, chat: ChatExample, *, max_tokens: int) -> str | None:
    """Why an example can't be sent; None if it can."""
    empty = [name for name in ("source", "mt", "human") if not getattr(example, name).strip()]
    if empty:
        return f"its {empty[0]} is empty"
    text = "".join((example.source, example.mt, example.human))
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "it has half of a surrogate pair, which no file can hold"
    if chat.draft != example.human.strip():
        return "its human translation has delimiters or control words that its MT has not"
    tokens = estimate_row_tokens(chat.row)
    if tokens.high > max_tokens:
        return f"it has up to {tokens.high:,.0f} tokens by our estimate, and {max_tokens:,} are allowed"
    return find_row_error(chat.row)


def estimate_row_tokens(row: ChatRowDict) -> TokenRange:
    """Estimated tokens of a row, prompt included, since all are paid for."""
    turns = row["messages"]
    low = sum(estimate_tokens(turn["content"]).low for turn in turns) + _TOKENS_PER_TURN * len(turns) + _TOKENS_PER_ROW
    return TokenRange(low, low * _ESTIMATE_MARGIN)


def max_example_tokens(base: str) -> int:
    """Maximum tokens per example of a model."""
    return next(limit for name, limit in MAX_TOKENS_BY_BASE.items() if base.removeprefix("ft:").startswith(name))

"""What a batch says of each of its tokens: learned, and with which weight; read only; or padding.

The marks are read off the tensors that the model is given, not worked out again from the text: what is shown is what
is trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from finetune.training.encoding import IGNORED

TokenRole = Literal["learned", "read", "padding"]


@dataclass(frozen=True, slots=True)
class TokenMark:
    """A token of a batch. `weight` is what it counts in the loss: 0 unless it is learned."""

    token: int
    mark: TokenRole
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class TokenMarkRun:
    """Tokens in a row that are marked alike, as texts to be shown."""

    mark: TokenRole
    weight: float
    texts: tuple[str, ...]


def mark_tokens(batch: Mapping[str, Any]) -> list[list[TokenMark]]:
    """The tokens of each row, each with its mark."""
    columns = ("input_ids", "attention_mask", "labels", "loss_weights")
    rows = zip(*(batch[name].tolist() for name in columns), strict=True)
    return [[_mark(*place) for place in zip(*row, strict=True)] for row in rows]


def _mark(token: int, attended: int, label: int, weight: float) -> TokenMark:
    # The loss is a sum of terms with a label, each times its weight: without either there is nothing learned.
    if label != IGNORED and weight:
        return TokenMark(token, "learned", weight)
    return TokenMark(token, "read" if attended else "padding")


def group_marks(tokenizer: Any, row: Sequence[TokenMark]) -> list[TokenMarkRun]:
    """The row as it is shown: a run for each stretch of one mark and weight."""
    return [
        TokenMarkRun(mark, weight, tuple(printable_token(tokenizer, one.token) for one in alike))
        for (mark, weight), alike in groupby(row, key=lambda one: (one.mark, one.weight))
    ]


def printable_token(tokenizer: Any, token: int) -> str:
    """A token's text on one line; a part of a character has none, and is shown by its name."""
    text: str = tokenizer.decode([token])
    if not text or "\ufffd" in text:
        text = str(tokenizer.convert_ids_to_tokens(token))
    return text.replace("\n", "⏎").replace("\r", "␍").replace("\t", "⇥")

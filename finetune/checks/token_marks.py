"""Role of each token in a batch: learned (with its weight), read only, or padding.

Roles are taken from the tensors that the model is given, so they show what is trained on.
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
    """A token of a batch; `weight` is its weight in the loss, 0 unless it is learned."""

    token: int
    mark: TokenRole
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class TokenMarkRun:
    """Texts of consecutive tokens with the same role and weight."""

    mark: TokenRole
    weight: float
    texts: tuple[str, ...]


def mark_tokens(batch: Mapping[str, Any]) -> list[list[TokenMark]]:
    """Mark the tokens of each row."""
    columns = ("input_ids", "attention_mask", "labels", "loss_weights")
    rows = zip(*(batch[name].tolist() for name in columns), strict=True)
    return [[_mark(*place) for place in zip(*row, strict=True)] for row in rows]


def _mark(token: int, attended: int, label: int, weight: float) -> TokenMark:
    # A token without a label or with weight 0 adds nothing to the loss.
    if label != IGNORED and weight:
        return TokenMark(token, "learned", weight)
    return TokenMark(token, "read" if attended else "padding")


def group_marks(tokenizer: Any, row: Sequence[TokenMark]) -> list[TokenMarkRun]:
    """Group consecutive tokens of the same role and weight."""
    return [
        TokenMarkRun(mark, weight, tuple(printable_token(tokenizer, one.token) for one in alike))
        for (mark, weight), alike in groupby(row, key=lambda one: (one.mark, one.weight))
    ]


def printable_token(tokenizer: Any, token: int) -> str:
    """Text of a token on one line; for a part of a character, its name in the vocabulary."""
    text: str = tokenizer.decode([token])
    if not text or "\ufffd" in text:
        text = str(tokenizer.convert_ids_to_tokens(token))
    return text.replace("\n", "⏎").replace("\r", "␍").replace("\t", "⇥")

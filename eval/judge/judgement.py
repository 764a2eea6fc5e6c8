"""Verdicts of a judge; a missing verdict is counted with its reason, never averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from eval.human.vote import Choice

UnscoredReason: TypeAlias = Literal[
    "no_verdict", "cut_off", "off_menu", "order_flip", "unfounded", "too_long", "refused", "same_text", "blank"
]

UNSCORED_REASONS: Mapping[UnscoredReason, str] = {
    "no_verdict": "the answer has no verdict",
    "cut_off": "the answer was cut off before its verdict",
    "off_menu": "the verdict is not one of the allowed answers",
    "order_flip": "the verdict changed when the two texts were swapped",
    "unfounded": "none of the quoted words are in the text",
    "too_long": "the prompt does not fit the model's context window",
    "refused": "the model server refused the request",
    "same_text": "both texts are the same; the judge was not asked",
    "blank": "the translation has no words; the judge was not asked",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The choice, and the raw answers from which it was read."""

    choice: Choice
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unscored:
    """The reason for a missing verdict, and the raw answers."""

    why: UnscoredReason
    answers: tuple[str, ...] = ()


Judgement: TypeAlias = Verdict | Unscored

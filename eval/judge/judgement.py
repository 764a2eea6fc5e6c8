"""An answer, or the reason there is none: a judge that fails to answer is counted and shown, never averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from eval.human.vote import Choice

UnscoredReason: TypeAlias = Literal[
    "no_verdict",
    "cut_off",
    "off_menu",
    "order_flip",
    "unfounded",
    "too_long",
    "refused",
    "same_text",
    "blank",
]

UNSCORED_REASONS: Mapping[UnscoredReason, str] = {
    "no_verdict": "the answer has no verdict",
    "cut_off": "the answer was cut off before its verdict",
    "off_menu": "the verdict is none of those that were asked for",
    "order_flip": "the verdict changed when the two texts changed places",
    "unfounded": "none of the words that it quotes are in the text",
    "too_long": "the question does not fit the model's window",
    "refused": "the model server refused the question",
    "same_text": "both texts are the same, and the judge was not asked",
    "blank": "there is no word to be judged, and the judge was not asked",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was chosen, and the answers it was read from, as the judge wrote them."""

    choice: Choice
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unscored:
    """Why there is no verdict, and what the judge wrote instead."""

    why: UnscoredReason
    answers: tuple[str, ...] = ()


Judgement: TypeAlias = Verdict | Unscored

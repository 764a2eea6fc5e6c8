"""Find the first token at which a served answer diverges from that of transformers, and by what margin.

Two programs sum in different orders, so where two tokens are almost equally likely either may win, and the rest of the
answer follows from that. Such a near-tie is not an error. A token that transformers found much less likely than its own
is one: a wrong adapter, prompt or scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, Literal

from finetune.checks.token_marks import printable_token

# Margins in log-probability: for programs that sum in another order, and for one that multiplies quantised weights with
# inputs rounded to 8 bits; SmolLM2 in Q4_1 differs from transformers by up to 0.22.
NEAR_TIE = 0.1
ROUNDED_NEAR_TIE = 0.3
# Replacement character for an incomplete UTF-8 sequence.
BROKEN = "\ufffd"
# The likeliest tokens among which the served one is searched.
_CANDIDATES = 50

DivergenceKind = Literal["near_tie", "real", "prompt", "length"]
# Log-probabilities of every next token after this many tokens of the answer.
LogprobsAfter = Callable[[int], Sequence[float]]


@dataclass(frozen=True, slots=True)
class TokenDivergence:
    """First difference of a served answer from that of transformers, with the texts of the two tokens.

    `margin` is the log-probability of transformers' token minus that of the served one, and `rank` the rank of the
    served one (2 for the runner-up). Both are None if the served token is unknown.
    """

    kind: DivergenceKind
    token: int
    reference: str
    served: str
    margin: float | None = None
    rank: int | None = None
    near: float = NEAR_TIE


def classify_margin(margin: float | None, near: float = NEAR_TIE) -> DivergenceKind:
    """Tell a near-tie from a real difference."""
    return "near_tie" if margin is not None and margin < near else "real"


def first_divergence(
    tokenizer: Any,
    tokens: Sequence[int],
    served: str,
    *,
    stopped: bool,
    after: LogprobsAfter,
    stop: str,
    near: float = NEAR_TIE,
) -> TokenDivergence:
    """Find where `served`, which ended by itself if `stopped`, diverges from the answer with these tokens.

    The end token is the last of them if the answer ended. Only the served text is known, so the likeliest token that
    continues it is taken for the served one.
    """
    served = served.rstrip(BROKEN)
    last = place = _common_tokens(tokenizer, tokens, served)
    if place == len(tokens) or (served == _text(tokenizer, tokens[:place]) and not stopped):
        return TokenDivergence("length", place, "", "")
    # Within a character of several tokens, the text does not show which token differs.
    while place > 0 and _text(tokenizer, tokens[: place - 1]) == _text(tokenizer, tokens[:last]):
        place -= 1
    # The token before may differ with the same first letters: "fleet" and "fleets", or " " and " the". The likeliest
    # segmentation counts.
    found = []
    for at in range(last, max(place - 2, -1), -1):
        logprobs = after(at)
        but = tokens[at] if at < place else None
        token = _served_token(tokenizer, tokens[:at], served, stopped=stopped, stop=stop, logprobs=logprobs, but=but)
        if token is not None and token != tokens[at]:
            margin = logprobs[tokens[at]] - logprobs[token]
            rank = 1 + sum(logprob > logprobs[token] for logprob in logprobs)
            names = printable_token(tokenizer, tokens[at]), printable_token(tokenizer, token)
            found.append(TokenDivergence(classify_margin(margin, near), at, *names, margin, rank, near))
    if found:
        return min(found, key=lambda one: one.margin or 0.0)
    rest = served.removeprefix(_text(tokenizer, tokens[:place]))
    return TokenDivergence("real", place, printable_token(tokenizer, tokens[place]), rest[:20])


def _text(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Decode tokens, without an incomplete character at the end."""
    return str(tokenizer.decode(list(tokens), skip_special_tokens=True)).rstrip(BROKEN)


def _common_tokens(tokenizer: Any, tokens: Sequence[int], served: str) -> int:
    """Number of leading tokens that the served text shares; the end token matches only at its end."""
    for place, token in enumerate(tokens):
        text = _text(tokenizer, tokens[: place + 1])
        if not served.startswith(text) or (token == tokenizer.eos_token_id and text != served):
            return place
    return len(tokens)


def _served_token(
    tokenizer: Any,
    before: Sequence[int],
    served: str,
    *,
    stopped: bool,
    stop: str,
    logprobs: Sequence[float],
    but: int | None = None,
) -> int | None:
    """The likeliest token that continues the served text; None if none of the candidates does.

    With `but`, only tokens that continue it further than that one are considered. A part of a character has no text to
    compare; it matches only if the tokenizer starts the rest with it, or real differences would pass as near-ties.
    """
    begun = _text(tokenizer, before)
    target = served + stop if stopped else served
    further = len(begun) if but is None else len(_text(tokenizer, [*before, but]))
    for token in nlargest(_CANDIDATES, range(len(logprobs)), key=logprobs.__getitem__):
        text = _text(tokenizer, [*before, token])
        if token == tokenizer.eos_token_id:
            fits = stopped and served == begun
        elif text == begun:
            rest = served.removeprefix(begun)
            fits = bool(rest) and tokenizer(rest, add_special_tokens=False).input_ids[0] == token
        else:
            fits = target.startswith(text) and (but is None or len(text) > further)
        if fits and token != but:
            return token
    return None

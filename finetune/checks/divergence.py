"""Why two programs part: the first token at which a served answer leaves the one of transformers, and by how much.

Two programs add the same numbers in different orders, so where two tokens are all but equally likely either may win,
and the rest of the answer follows from that. Such a near-tie is no fault. A token that transformers found much less
likely than its own is: a wrong adapter, a wrong prompt, a wrong scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Any, Literal

from finetune.checks.token_marks import printable_token

# In log-probabilities: of programs that add the same numbers in another order, and of one that computes with packed
# weights and rounds to 8 bits what goes into them; on SmolLM2 in Q4_1 that parts from transformers by up to 0.22.
NEAR_TIE = 0.1
ROUNDED_NEAR_TIE = 0.3
# What stands for a character of which a part is missing.
BROKEN = "\ufffd"
# Tokens of transformers that are looked at for the one that was served.
_CANDIDATES = 50

DivergenceKind = Literal["near_tie", "real", "prompt", "length"]
# The log-probabilities of every next token, after that many tokens of the answer.
LogprobsAfter = Callable[[int], Sequence[float]]


@dataclass(frozen=True, slots=True)
class TokenDivergence:
    """Where a served answer parts from that of transformers. Texts are those of the two tokens.

    `margin` is by how much transformers found its own token likelier, and `rank` which of its choices the served one
    is: of a runner-up, 2, that is the margin between its two best. Both are None where the served one is no choice of
    its at all.
    """

    kind: DivergenceKind
    token: int
    reference: str
    served: str
    margin: float | None = None
    rank: int | None = None
    near: float = NEAR_TIE


def classify_margin(margin: float | None, near: float = NEAR_TIE) -> DivergenceKind:
    """A near-tie, or a real difference."""
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
    """Where `served`, a text that ended by itself if `stopped`, leaves the answer with those tokens.

    The end token is the last of them where the answer came to one. A text says nothing of its tokens, so the likeliest
    one that goes on with it is taken for the one that was chosen.
    """
    served = served.rstrip(BROKEN)
    last = place = _common_tokens(tokenizer, tokens, served)
    if place == len(tokens) or (served == _text(tokenizer, tokens[:place]) and not stopped):
        return TokenDivergence("length", place, "", "")
    # Within a character of several tokens, the text does not tell which of them was another one.
    while place > 0 and _text(tokenizer, tokens[: place - 1]) == _text(tokenizer, tokens[:last]):
        place -= 1
    # The token before may have been another one that begins with the same letters: "fleet" and "fleets", or " " and
    # " the". Of the ways to read the text, the likeliest is taken.
    found = []
    for at in range(last, max(place - 2, -1), -1):
        chances = after(at)
        but = tokens[at] if at < place else None
        token = _served_token(
            tokenizer, tokens[:at], served, stopped=stopped, stop=stop, chances=chances, but=but
        )
        if token is not None and token != tokens[at]:
            margin = chances[tokens[at]] - chances[token]
            rank = 1 + sum(chance > chances[token] for chance in chances)
            names = printable_token(tokenizer, tokens[at]), printable_token(tokenizer, token)
            found.append(TokenDivergence(classify_margin(margin, near), at, *names, margin, rank, near))
    if found:
        return min(found, key=lambda one: one.margin or 0.0)
    rest = served.removeprefix(_text(tokenizer, tokens[:place]))
    return TokenDivergence("real", place, printable_token(tokenizer, tokens[place]), rest[:20])


def _text(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Their text as far as its characters are whole."""
    return str(tokenizer.decode(list(tokens), skip_special_tokens=True)).rstrip(BROKEN)


def _common_tokens(tokenizer: Any, tokens: Sequence[int], served: str) -> int:
    """How many of the tokens the served text begins with; the end token only goes with the end."""
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
    chances: Sequence[float],
    but: int | None = None,
) -> int | None:
    """The likeliest token that goes on with the served text, or None where none of the best does.

    With `but`, the likeliest of those that go on further than that one.

    A part of a character has no text to compare. It counts only where the tokenizer itself begins the rest with it: to
    take just any for it would call real differences near-ties.
    """
    begun = _text(tokenizer, before)
    target = served + stop if stopped else served
    further = len(begun) if but is None else len(_text(tokenizer, [*before, but]))
    for token in nlargest(_CANDIDATES, range(len(chances)), key=chances.__getitem__):
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

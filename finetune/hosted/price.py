"""What a job will cost, roughly, said before the money is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ape.text.token_estimate import TokenRange

# Dollars for a million tokens trained on, by the beginning of the model's name: OpenAI's list of mid-2025. The longest
# name that fits is meant. Prices change, and --price has the last word.
DOLLARS_PER_MILLION_TOKENS: Mapping[str, float] = {
    "gpt-3.5-turbo": 8.0,
    "gpt-4o": 25.0,
    "gpt-4o-mini": 3.0,
    "gpt-4.1": 25.0,
    "gpt-4.1-mini": 5.0,
    "gpt-4.1-nano": 1.5,
}


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Tokens of all epochs together, and what a million of them costs, where anybody knows."""

    tokens: TokenRange
    price: float | None
    origin: str

    @property
    def dollars(self) -> TokenRange | None:
        """What is to be paid."""
        return None if self.price is None else self.tokens.times(self.price / 1e6)

    @property
    def sentence(self) -> str:
        """For whoever is to pay."""
        tokens = f"{_round(self.tokens.low):,} to {_round(self.tokens.high):,} tokens in all, by our estimate"
        if self.dollars is None:
            return f"{tokens}. What they cost is not known here: tell with --price, for a million."
        low, high = self.dollars.low, self.dollars.high
        return f"{tokens}: ${low:,.2f} to ${high:,.2f} at ${self.price:,.2f} a million ({self.origin})."


def estimate_cost(
    tokens: TokenRange, *, epochs: int, base: str, by_openai: bool, price: float | None
) -> CostEstimate:
    """By the price that is given, or by the one that is listed."""
    trained = tokens.times(epochs)
    if price is not None:
        return CostEstimate(trained, price, "--price")
    name = base.removeprefix("ft:")
    fitting = [listed for listed in DOLLARS_PER_MILLION_TOKENS if name.startswith(listed)]
    if not (by_openai and fitting):
        return CostEstimate(trained, None, "")
    return CostEstimate(
        trained,
        DOLLARS_PER_MILLION_TOKENS[max(fitting, key=len)],
        "listed in mid-2025; --price tells another",
    )


def _round(tokens: float) -> int:
    return round(tokens) if tokens < 10_000 else int(round(tokens, -3))

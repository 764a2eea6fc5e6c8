"""Estimate the price of a job before it is created."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ape.text.token_estimate import TokenRange

# Dollars per million training tokens by prefix of the model name (the longest match counts): OpenAI's list of mid-2025.
# Prices change; a price that the user gives takes precedence.
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
    """Tokens over all epochs, and the price per million if known."""

    tokens: TokenRange
    price: float | None
    origin: str

    @property
    def dollars(self) -> TokenRange | None:
        """Lowest and highest price."""
        return None if self.price is None else self.tokens.times(self.price / 1e6)

    @property
    def sentence(self) -> str:
        """The estimate as a sentence."""
        tokens = f"{_round(self.tokens.low):,} to {_round(self.tokens.high):,} tokens in all, by our estimate"
        if self.dollars is None:
            return f"{tokens}. The price of a million tokens is not known."
        low, high = self.dollars.low, self.dollars.high
        return f"{tokens}: ${low:,.2f} to ${high:,.2f} at ${self.price:,.2f} a million ({self.origin})."


def estimate_cost(tokens: TokenRange, *, epochs: int, base: str, by_openai: bool, price: float | None) -> CostEstimate:
    """Estimate with the given price, or with the listed one."""
    trained = tokens.times(epochs)
    if price is not None:
        return CostEstimate(trained, price, "given")
    name = base.removeprefix("ft:")
    fitting = [listed for listed in DOLLARS_PER_MILLION_TOKENS if name.startswith(listed)]
    if not (by_openai and fitting):
        return CostEstimate(trained, None, "")
    return CostEstimate(trained, DOLLARS_PER_MILLION_TOKENS[max(fitting, key=len)], "listed in mid-2025")


def _round(tokens: float) -> int:
    return round(tokens) if tokens < 10_000 else int(round(tokens, -3))

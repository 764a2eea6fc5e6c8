"""Cost of a judge: requests, tokens, and money where the price is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ape.jobs.estimate import FREE_PRICE, TokenPrice
from ape.passage.result import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """Cost of this run, and of the cached answers that it reused."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    cached: int = 0
    """Answers from the cache."""
    cached_usage: Usage = field(default_factory=Usage)
    price: TokenPrice | None = None

    @property
    def money(self) -> float | None:
        """In the currency of the price; None without a price or without token counts from the server."""
        return self._money(self.usage, self.requests)

    @property
    def saved(self) -> float | None:
        """What the cached answers had cost."""
        return self._money(self.cached_usage, self.cached)

    def _money(self, usage: Usage, answers: int) -> float | None:
        if self.price is None or (answers and not usage.prompt_tokens):
            return None
        return (usage.prompt_tokens * self.price.reads + usage.completion_tokens * self.price.writes) / _MILLION

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "requests": self.requests,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "money": self.money,
            "kept": self.cached,
            "kept_prompt_tokens": self.cached_usage.prompt_tokens,
            "kept_completion_tokens": self.cached_usage.completion_tokens,
            "kept_money": self.saved,
        }

    def __str__(self) -> str:
        text = f"{self.requests:,} request{'s' * (self.requests != 1)}"
        if self.requests and not self.usage.prompt_tokens:
            text += ", the server reports no token counts"
        elif self.requests:
            text += f", {self.usage.prompt_tokens:,} tokens read and {self.usage.completion_tokens:,} written"
        if self.money is not None and self.price != FREE_PRICE:
            text += f", cost {self.money:,.4f}"
        return text + (f"; {self.cached:,} answer{'s' * (self.cached != 1)} from the cache" if self.cached else "")

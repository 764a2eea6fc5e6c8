"""What a judge cost: requests, tokens, and money where the price is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ape.jobs.estimate import FREE_PRICE, TokenPrice
from ape.passage.result import Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class JudgeCost:
    """Of this run; what was kept from earlier ones is told beside it."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    kept: int = 0
    """So many answers were there already."""
    kept_usage: Usage = field(default_factory=Usage)
    price: TokenPrice | None = None

    @property
    def money(self) -> float | None:
        """In the money of the price; None where there is no price, or the server does not tell its tokens."""
        return self._worth(self.usage, self.requests)

    @property
    def saved(self) -> float | None:
        """What the kept answers had cost."""
        return self._worth(self.kept_usage, self.kept)

    def _worth(self, usage: Usage, answers: int) -> float | None:
        if self.price is None or (answers and not usage.prompt_tokens):
            return None
        return (
            usage.prompt_tokens * self.price.reads + usage.completion_tokens * self.price.writes
        ) / _MILLION

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "requests": self.requests,
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "money": self.money,
            "kept": self.kept,
            "kept_prompt_tokens": self.kept_usage.prompt_tokens,
            "kept_completion_tokens": self.kept_usage.completion_tokens,
            "kept_money": self.saved,
        }

    def __str__(self) -> str:
        told = f"{self.requests:,} request{'s' * (self.requests != 1)}"
        if self.requests and not self.usage.prompt_tokens:
            told += ", the server does not tell how many tokens"
        elif self.requests:
            told += f", {self.usage.prompt_tokens:,} tokens read and {self.usage.completion_tokens:,} written"
        if self.money is not None and self.price != FREE_PRICE:
            told += f", cost {self.money:,.4f}"
        were = "answer was" if self.kept == 1 else "answers were"
        return told + (f"; {self.kept:,} {were} kept from before" if self.kept else "")

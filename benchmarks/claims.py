"""A claim about speed: a ratio of two sides measured alternately, with an optional bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

# How far the generated tokens of two sides may be apart: drafts differ a little, since batching is not deterministic.
MAX_TOKEN_DIFFERENCE = 0.05


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and the ratio of every measured round.

    A claim without a bound always holds. `setting` describes the data and the machine. `tokens` is how many tokens the
    first side generated for each token of the second, and `prompt_tokens` how many it read: sides that were sent
    different prompts, or did not do the same work, are not compared.
    """

    text: str
    ratios: tuple[float, ...]
    bound: float | None = None
    direction: Literal["at least", "at most"] = "at least"
    note: str = ""
    setting: str = ""
    tokens: float | None = None
    prompt_tokens: float | None = None

    @property
    def is_comparable(self) -> bool:
        """Whether both sides read the same prompts and did the same work."""
        if self.prompt_tokens not in (None, 1):
            return False
        return self.tokens is None or abs(self.tokens - 1) <= MAX_TOKEN_DIFFERENCE

    @property
    def ratio(self) -> float:
        """The median, which a single disturbed round does not change."""
        return median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """Smallest and largest ratio of a round."""
        return min(self.ratios), max(self.ratios)

    @property
    def holds(self) -> bool:
        """Whether the median meets the bound; never if the sides are not comparable."""
        if not self.is_comparable:
            return False
        if self.bound is None:
            return True
        return self.ratio >= self.bound if self.direction == "at least" else self.ratio <= self.bound


def measure_alternately(
    first: Callable[[], float], second: Callable[[], float], *, rounds: int
) -> list[tuple[float, float]]:
    """Measure both sides in each round, alternating which one starts."""
    measured = []
    for number in range(rounds):
        if number % 2:
            late = second()
            measured.append((first(), late))
        else:
            measured.append((first(), second()))
    return measured


def ratios_by_round(measured: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """Ratio of the first side to the second in each round."""
    return tuple(one / other for one, other in measured)

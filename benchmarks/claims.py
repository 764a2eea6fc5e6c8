"""A claim about speed: a ratio of two sides measured alternately, with an optional bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, and the ratio of every measured round.

    A claim without a bound always holds. `setting` describes the data and the machine.
    """

    text: str
    ratios: tuple[float, ...]
    bound: float | None = None
    direction: Literal["at least", "at most"] = "at least"
    note: str = ""
    setting: str = ""

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
        """Whether the median meets the bound."""
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

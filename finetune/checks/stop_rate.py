"""Stop rate of an adapter: answers must end by themselves on 99% of dev prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from finetune.checks.parity import ReferenceAnswer

MIN_STOP_RATE = 0.99


@dataclass(frozen=True, slots=True)
class StopRate:
    """The number of prompts, and the answers that did not end."""

    prompts: int
    runaways: tuple[ReferenceAnswer, ...]

    @property
    def share(self) -> float:
        """Share of answers that ended by themselves."""
        return 1 - len(self.runaways) / self.prompts

    @property
    def passes(self) -> bool:
        """Whether the share is high enough to serve the adapter."""
        return self.share >= MIN_STOP_RATE


def measure_stop_rate(asked: Sequence[ReferenceAnswer]) -> StopRate:
    """Measure the stop rate of reference answers."""
    return StopRate(len(asked), tuple(one for one in asked if not one.stopped))

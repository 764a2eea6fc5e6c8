"""Whether an adapter comes to an end by itself: on 99 of 100 prompts of dev, or it is not fit to be served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from finetune.checks.parity import ReferenceAnswer

MIN_STOP_RATE = 0.99


@dataclass(frozen=True, slots=True)
class StopRate:
    """How many prompts were answered to an end, and the answers that were not."""

    prompts: int
    runaways: tuple[ReferenceAnswer, ...]

    @property
    def share(self) -> float:
        """Of the prompts whose answer ended."""
        return 1 - len(self.runaways) / self.prompts

    @property
    def enough(self) -> bool:
        """Whether that many are."""
        return self.share >= MIN_STOP_RATE


def measure_stop_rate(asked: Sequence[ReferenceAnswer]) -> StopRate:
    """Count them."""
    return StopRate(len(asked), tuple(one for one in asked if not one.stopped))

"""A predictor that records the items it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class RecordingPredictor:
    """Scores every item 0.5."""

    def __init__(self) -> None:
        self.items: list[Mapping[str, str]] = []

    def __call__(self, items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        self.items += items
        return [0.5] * len(items)

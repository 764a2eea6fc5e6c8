"""What each filter took: the tally that the manifest keeps, the report draws, and an error message quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from finetune.data.paragraph import TrainingParagraph


@dataclass(frozen=True, slots=True)
class FilterStep:
    """A filter's work: how many came, of all sides or of "train", and how many it dropped, by language pair."""

    name: str
    side: str
    came: int
    dropped_by_pair: dict[str, int]

    @property
    def dropped(self) -> int:
        """How many did not get through."""
        return sum(self.dropped_by_pair.values())

    @property
    def left(self) -> int:
        """How many got through."""
        return self.came - self.dropped


@dataclass(slots=True)
class FilterFunnel:
    """The steps in their order."""

    steps: list[FilterStep] = field(default_factory=list)

    def record(
        self,
        name: str,
        before: Sequence[TrainingParagraph],
        after: Sequence[TrainingParagraph],
        *,
        side: str = "all",
    ) -> None:
        """Note a step from what came and what is left."""
        dropped = Counter(one.pair for one in before)
        dropped.subtract(one.pair for one in after)
        counts = {pair: count for pair, count in sorted(dropped.items()) if count}
        self.steps.append(FilterStep(name, side, len(before), counts))

    def losses(self, pair: str | None = None) -> str:
        """Which filter took how many, the greediest first, as a clause of a sentence."""
        found = [
            (step.dropped if pair is None else step.dropped_by_pair.get(pair, 0), step.name)
            for step in self.steps
        ]
        told = [f"{name} took {count:,}" for count, name in sorted(found, reverse=True) if count]
        return ", ".join(told) or "no filter took any"

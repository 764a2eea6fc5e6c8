"""Counts of what each filter dropped, for the manifest, the report and error messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from finetune.data.paragraph import TrainingParagraph


@dataclass(frozen=True, slots=True)
class FilterStep:
    """Counts of a filter by language pair: how many came and how many it dropped, of all splits or of train."""

    name: str
    side: str
    came: int
    dropped_by_pair: dict[str, int]

    @property
    def dropped(self) -> int:
        """Number of dropped paragraphs."""
        return sum(self.dropped_by_pair.values())

    @property
    def left(self) -> int:
        """Number of paragraphs left."""
        return self.came - self.dropped


@dataclass(slots=True)
class FilterFunnel:
    """The filters in order."""

    steps: list[FilterStep] = field(default_factory=list)

    def record(
        self, name: str, before: Sequence[TrainingParagraph], after: Sequence[TrainingParagraph], *, side: str = "all"
    ) -> None:
        """Record a filter from its input and output."""
        dropped = Counter(one.pair for one in before)
        dropped.subtract(one.pair for one in after)
        counts = {pair: count for pair, count in sorted(dropped.items()) if count}
        self.steps.append(FilterStep(name, side, len(before), counts))

    def losses(self, pair: str | None = None) -> str:
        """Losses by filter, largest first, as part of a sentence."""
        found = [
            (step.dropped if pair is None else step.dropped_by_pair.get(pair, 0), step.name) for step in self.steps
        ]
        clauses = [f"{name} took {count:,}" for count, name in sorted(found, reverse=True) if count]
        return ", ".join(clauses) or "no filter took any"

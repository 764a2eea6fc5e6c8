"""Apply planned changes to a text, keeping track of where each one ends up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ape.passage.edit import EditKind


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A change of a span of the MT, with the entity it follows from and the reason."""

    kind: EditKind
    start: int
    end: int
    before: str
    after: str
    entity: str
    reason: str


def apply_changes(
    text: str, changes: Sequence[PlannedChange]
) -> tuple[str, list[tuple[PlannedChange, tuple[int, int]]]]:
    """The changed text, and each change with its span there; of two that overlap the first is made."""
    pieces: list[str] = []
    spans: list[tuple[PlannedChange, tuple[int, int]]] = []
    place = length = 0
    for change in sorted(changes, key=lambda one: one.start):
        if change.start < place:
            continue
        pieces += (text[place : change.start], change.after)
        start = length + change.start - place
        length = start + len(change.after)
        place = change.end
        spans.append((change, (start, length)))
    return "".join([*pieces, text[place:]]), spans

"""What came before a paragraph, to be shown to the model with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ape.books.marks import without_marks
from ape.jobs.row import Planned, Row
from ape.segment import Context

# Longer ones would take the window from the paragraph itself.
LONGEST = 1_200


class Earlier:
    """The last few paragraphs of a chapter, as edited.

    A stretch begins with the MT of those before it: another worker may be at them, and a result that depended on who
    was first could not be had again.
    """

    def __init__(self, count: int, before: Iterable[Planned] = ()) -> None:
        self._pairs: deque[Context] = deque(maxlen=count)
        for planned in before:
            self._add(planned, planned.mt)

    def add(self, row: Row) -> None:
        """The next paragraph is done, or is not going to be."""
        self._add(row.planned, row.text)

    def _add(self, planned: Planned, target: str) -> None:
        source, target = without_marks(planned.source).strip(), without_marks(target).strip()
        if source and target and max(len(source), len(target)) <= LONGEST:
            self._pairs.append(Context(source, target))

    @property
    def pairs(self) -> tuple[Context, ...]:
        """The oldest first."""
        return tuple(self._pairs)

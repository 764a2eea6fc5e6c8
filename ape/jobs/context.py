"""What came before a paragraph, to be shown to the model with it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ape.jobs.job_paragraph import JobParagraph, PlannedParagraph
from ape.passage.segment import Context
from ape.text.inline_marks import strip_marks

# Longer ones would take the window from the paragraph itself.
MAX_CONTEXT_CHARACTERS = 1_200


class ContextWindow:
    """The last few paragraphs of a chapter, as edited.

    A stretch begins with the MT of those before it: another worker may be at them, and a result that depended on who
    was first could not be had again.
    """

    def __init__(self, count: int, before: Iterable[PlannedParagraph] = ()) -> None:
        self._pairs: deque[Context] = deque(maxlen=count)
        for planned in before:
            self._add(planned, planned.mt)

    def add(self, row: JobParagraph) -> None:
        """The next paragraph is done, or is not going to be."""
        self._add(row.planned, row.text)

    def _add(self, planned: PlannedParagraph, target: str) -> None:
        source, target = strip_marks(planned.source).strip(), strip_marks(target).strip()
        if source and target and max(len(source), len(target)) <= MAX_CONTEXT_CHARACTERS:
            self._pairs.append(Context(source, target))

    @property
    def pairs(self) -> tuple[Context, ...]:
        """The oldest first."""
        return tuple(self._pairs)

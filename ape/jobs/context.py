"""The context of a paragraph in the prompt: the paragraphs before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ape.jobs.job_paragraph import JobParagraph, PlannedParagraph
from ape.passage.segment import Context
from ape.text.inline_marks import strip_marks

# Longer paragraphs are left out, to save the context window for the paragraph itself.
MAX_CONTEXT_CHARACTERS = 1_200


class ContextWindow:
    """The last few paragraphs of a chapter, as edited.

    A stretch begins with the MT of the paragraphs before it. Another worker may be editing them, and results must not
    depend on the order of workers.
    """

    def __init__(self, count: int, before: Iterable[PlannedParagraph] = ()) -> None:
        self._pairs: deque[Context] = deque(maxlen=count)
        for planned in before:
            self.add_text(planned, planned.mt)

    def add(self, row: JobParagraph) -> None:
        """Add a paragraph that is finished or skipped."""
        self.add_text(row.planned, row.text)

    def add_text(self, planned: PlannedParagraph, target: str) -> None:
        """Add a paragraph with this text."""
        source, target = strip_marks(planned.source).strip(), strip_marks(target).strip()
        if source and target and max(len(source), len(target)) <= MAX_CONTEXT_CHARACTERS:
            self._pairs.append(Context(source, target))

    @property
    def pairs(self) -> tuple[Context, ...]:
        """The pairs, oldest first."""
        return tuple(self._pairs)

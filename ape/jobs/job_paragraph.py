"""A paragraph at work: what it is, and what has become of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ape.passage.result import PostEdit


class ParagraphState(StrEnum):
    """Where a paragraph stands. `quarantined`: it failed again and again, and the book went on without it."""

    WAITING = "waiting"
    DONE = "done"
    QUARANTINED = "quarantined"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class PlannedParagraph:
    """A paragraph of a book that is to be worked on, or the reason why it is not.

    `position` counts from 0 through the book. `stretch` numbers the run of paragraphs that one worker does in order.
    `how` is "structure", "alignment" or "bilingual", and `confidence` of the pair is between 0 and 1. `fingerprint`
    stands for everything that decides the result.
    """

    id: str
    position: int
    chapter: int
    title: str
    stretch: int
    source: str
    mt: str
    how: str = "structure"
    confidence: float = 1.0
    skip: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class JobParagraph:
    """A planned paragraph with its result, or with what went wrong. `reason` is why it was skipped or quarantined."""

    planned: PlannedParagraph
    state: ParagraphState
    result: PostEdit | None = None
    reason: str = ""
    failures: int = 0
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """What stands in the book: the post-edit, or the MT as long as there is none."""
        return self.result.post_edit if self.result else self.planned.mt

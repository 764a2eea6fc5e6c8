"""A paragraph of a job: its plan, its state and its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ape.passage.result import PostEdit


class ParagraphState(StrEnum):
    """The state of a paragraph. `quarantined`: it failed too often, and keeps its MT."""

    WAITING = "waiting"
    DONE = "done"
    QUARANTINED = "quarantined"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class PlannedParagraph:
    """A paragraph to post-edit, or the reason why it is skipped.

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
    """A planned paragraph with its result or failure. `reason` is why it was skipped or quarantined."""

    planned: PlannedParagraph
    state: ParagraphState
    result: PostEdit | None = None
    reason: str = ""
    failures: int = 0
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The text in the book: the post-edit, or the MT as long as there is none."""
        return self.result.post_edit if self.result else self.planned.mt

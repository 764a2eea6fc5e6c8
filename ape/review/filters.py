"""Which paragraphs a reviewer wants to see: by chapter, state, kind of edit, guard, text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ape.passage.edit import EditKind
from ape.review.edits import EditState, ReviewEdit
from ape.review.paragraph import ReviewParagraph


class ReviewStage(StrEnum):
    """What is known of a paragraph or an edit.

    `undecided`: no person has decided about an edit of it; `refused`: the MT stays, as the drafts of the model were.
    """

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    CHANGED = "changed"
    COMMENTED = "commented"
    FINDINGS = "findings"
    REFUSED = "refused"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """All conditions have to hold; kind and state of an edit hold for the same edit."""

    chapter: int | None = None
    stage: ReviewStage | None = None
    kind: EditKind | None = None
    guard: str = ""
    text: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether every paragraph of the chapter passes."""
        return not (self.stage or self.kind or self.guard or self.text)

    def lets_pass_row(self, one: ReviewParagraph) -> bool:
        """Whether a paragraph passes as far as can be said without its comments."""
        if self.is_empty:
            return True
        if (self.kind or self.stage in _OF_EDITS) and not any(map(self.lets_pass_edit, one.edits)):
            return False
        if self.guard and not any(f.guard == self.guard and not one.is_dismissed(f) for f in one.findings):
            return False
        return self._has_text(one) and self._has_stage(one)

    def lets_pass(self, one: ReviewParagraph) -> bool:
        """Whether a paragraph with its comments passes."""
        return self.stage is not ReviewStage.COMMENTED or bool(one.comments)

    def lets_pass_edit(self, one: ReviewEdit) -> bool:
        """Whether an edit has the kind and the state."""
        if self.kind and one.edit.kind is not self.kind:
            return False
        if self.stage is ReviewStage.UNDECIDED:
            return not one.decided
        return self.stage not in _OF_EDITS or one.state == self.stage.value

    def _has_text(self, one: ReviewParagraph) -> bool:
        wanted = self.text.casefold()
        planned = one.row.planned
        return not wanted or any(wanted in text.casefold() for text in (one.text, planned.source, planned.mt))

    def _has_stage(self, one: ReviewParagraph) -> bool:
        match self.stage:
            case ReviewStage.CHANGED:
                return one.is_own_text
            case ReviewStage.FINDINGS:
                return any(one.is_about_text(f) and not one.is_dismissed(f) for f in one.findings)
            case ReviewStage.REFUSED:
                return one.is_draft_refused
            case ReviewStage.DISMISSED:
                return bool(one.state.dismissed)
            case _:
                return True


_OF_EDITS = frozenset((ReviewStage.UNDECIDED, *(ReviewStage(state.value) for state in EditState)))

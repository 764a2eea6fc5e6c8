"""A paragraph under review: its texts, edits, findings and version."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import RowMapping, Select, and_

from ape.errors import Conflict
from ape.jobs.job_paragraph import JobParagraph
from ape.jobs.result_rows import read_paragraph, select_paragraphs
from ape.jobs.tables import paragraphs, reviews
from ape.passage.result import Decision, Finding
from ape.review.edits import ReviewEdit, accepted_text
from ape.review.state import ReviewState


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A remark of a person about a paragraph."""

    id: int
    author: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class ReviewParagraph:
    """A paragraph with what people decided about it. `number` counts the changes; `author` made the last one."""

    row: JobParagraph
    state: ReviewState
    number: int = 0
    author: str = ""
    updated: datetime | None = None
    comments: tuple[ReviewComment, ...] = ()

    @property
    def id(self) -> str:
        """The id of the paragraph."""
        return self.row.planned.id

    @property
    def result_id(self) -> str:
        """The id of the result that the decisions speak of, "" if there is none yet."""
        return self.row.result.id if self.row.result else ""

    @property
    def version(self) -> str:
        """What a decision must name: it changes with every decision and with every new result."""
        return f"{self.number}-{self.result_id[:12]}"

    @property
    def edits(self) -> tuple[ReviewEdit, ...]:
        """The edits, in order."""
        return self.state.edits(self.row.result)

    @property
    def text(self) -> str:
        """The text in the book: the MT with the accepted edits."""
        return accepted_text(self.row.planned.mt, self.edits)

    @property
    def is_own_text(self) -> bool:
        """Whether a person wrote the text or a part of it."""
        return self.state.own_edits is not None

    @property
    def is_draft_refused(self) -> bool:
        """Whether the model's drafts were refused, and no person has written a text."""
        result = self.row.result
        return result is not None and result.decision is Decision.REJECTED and not self.is_own_text

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the guards say about the text and about refused drafts; dismissed findings included."""
        if self.is_own_text:
            return self.state.warnings
        return self.row.result.findings if self.row.result else ()

    def is_about_text(self, finding: Finding) -> bool:
        """Whether the finding is about the text, or the MT, and not about a draft that was refused."""
        kept = self.row.result.attempt if self.row.result else 0
        return self.is_own_text or finding.attempt in (0, kept)

    def is_dismissed(self, finding: Finding) -> bool:
        """Whether a person called the finding fine."""
        return (finding.guard, finding.message) in self.state.dismissed


class ReviewConflict(Conflict):
    """The paragraph has changed since the caller read it; `paragraphs` has the present state."""

    def __init__(self, message: str, paragraphs: tuple[ReviewParagraph, ...]) -> None:
        super().__init__(message, field="version")
        self.paragraphs = paragraphs


def select_reviewed(job: str) -> Select[Any]:
    """Select the paragraphs of a job with results and reviews, in book order."""
    joined = and_(reviews.c.job == paragraphs.c.job, reviews.c.paragraph == paragraphs.c.id)
    return (
        select_paragraphs()
        .outerjoin(reviews, joined)
        .add_columns(reviews.c.version, reviews.c.state.label("review"), reviews.c.author, reviews.c.updated)
        .where(paragraphs.c.job == job)
        .order_by(paragraphs.c.position)
    )


def read_reviewed(row: RowMapping) -> ReviewParagraph:
    """Read a paragraph from its row."""
    return ReviewParagraph(
        row=read_paragraph(row),
        state=ReviewState.from_json(row["review"]),
        number=row["version"] or 0,
        author=row["author"] or "",
        updated=to_time(row["updated"]) if row["updated"] is not None else None,
    )


def to_time(seconds: float) -> datetime:
    """A time of the database."""
    return datetime.fromtimestamp(seconds, UTC)

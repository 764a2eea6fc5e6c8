"""JSON of reviews: paragraphs with their edits, decisions, replacements, links."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ape.passage.edit import EditKind
from ape.review.decisions import MAX_TEXT, ReviewAction, ReviewDecision
from ape.review.edits import EditOrigin, EditState
from ape.review.links import MAX_DAYS, ReviewLink
from ape.review.log import ReviewLogEntry
from ape.review.paragraph import ReviewParagraph
from ape.review.redo import MAX_INSTRUCTION
from ape.review.replace import MAX_PATTERN, TextReplacement, TextSearch
from ape.review.store import MAX_ITEMS, MAX_NAME
from ape.review.summary import EditCounts, ReviewSummary

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
_LAX_ENUMS = ConfigDict(extra="forbid", frozen=True)
ParagraphId = Annotated[str, Field(min_length=1, max_length=1000)]
Version = Annotated[str, Field(max_length=100, description="`version` of the paragraph as it was read")]
Author = Annotated[
    str, Field(max_length=MAX_NAME, description="name of the reviewer; ignored for a link, which has one")
]
DecisionAction = Literal["accept", "reject", "reopen", "change", "comment", "dismiss", "restore"]


class ReviewEditOut(BaseModel):
    """An edit and its state."""

    number: int
    kind: EditKind
    before: str
    after: str
    mt_span: tuple[int, int]
    reason: str
    origin: EditOrigin
    state: EditState
    decided: bool
    doubt: str


class ReviewFindingOut(BaseModel):
    """A finding about the text, or about a draft that was refused."""

    guard: str
    severity: str
    message: str
    dismissed: bool
    refused_draft: bool = False


class ReviewCommentOut(BaseModel):
    """A remark of a person."""

    author: str
    at: datetime
    text: str


class ReviewParagraphOut(BaseModel):
    """A paragraph under review; `text` is the MT with the accepted edits."""

    id: str
    position: int
    chapter: int
    source: str
    mt: str
    text: str
    state: str
    skip: str
    version: str
    own_text: bool
    author: str
    updated: datetime | None
    edits: list[ReviewEditOut]
    findings: list[ReviewFindingOut]
    comments: list[ReviewCommentOut]

    @classmethod
    def of(cls, one: ReviewParagraph) -> ReviewParagraphOut:
        """The paragraph as JSON."""
        planned = one.row.planned
        return cls(
            id=one.id,
            position=planned.position,
            chapter=planned.chapter,
            source=planned.source,
            mt=planned.mt,
            text=one.text,
            state=one.row.state.value,
            skip=planned.skip or one.row.reason,
            version=one.version,
            own_text=one.is_own_text,
            author=one.author,
            updated=one.updated,
            edits=_edits(one),
            findings=_findings(one),
            comments=[ReviewCommentOut(author=c.author, at=c.at, text=c.text) for c in one.comments],
        )


def _findings(one: ReviewParagraph) -> list[ReviewFindingOut]:
    return [
        ReviewFindingOut(
            guard=found.guard,
            severity=found.severity,
            message=found.message,
            dismissed=one.is_dismissed(found),
            refused_draft=not one.is_about_text(found),
        )
        for found in one.findings
    ]


def _edits(one: ReviewParagraph) -> list[ReviewEditOut]:
    return [
        ReviewEditOut(
            number=number,
            kind=edit.edit.kind,
            before=edit.edit.before,
            after=edit.edit.after,
            mt_span=edit.edit.mt_span,
            reason=edit.edit.reason,
            origin=edit.origin,
            state=edit.state,
            decided=edit.decided,
            doubt=edit.doubt,
        )
        for number, edit in enumerate(one.edits)
    ]


class ReviewParagraphsOut(BaseModel):
    """Some paragraphs in book order; `next` is the position to go on after."""

    paragraphs: list[ReviewParagraphOut]
    next: int | None = None


class EditCountsOut(BaseModel):
    """Edits by state, and the share accepted of those that a person decided."""

    accepted: int
    rejected: int
    open: int
    decided: int
    acceptance: float | None

    @classmethod
    def of(cls, counts: EditCounts) -> EditCountsOut:
        """The counts as JSON."""
        return cls(
            accepted=counts.accepted,
            rejected=counts.rejected,
            open=counts.open,
            decided=counts.decided_accepted + counts.decided_rejected,
            acceptance=counts.acceptance,
        )


class ReviewChapterOut(BaseModel):
    """The counts of a chapter."""

    number: int
    title: str
    edits: EditCountsOut


class ReviewOut(BaseModel):
    """The review of a book: who you are, and the counts. `last_change` is the number of the last decision."""

    job: str
    name: str
    you: str
    owner: bool
    last_change: int
    paragraphs: int
    changed: int
    comments: int
    dismissed: int
    edits: EditCountsOut
    kinds: dict[str, EditCountsOut]
    guards: dict[str, int]
    chapters: list[ReviewChapterOut]

    @staticmethod
    def counts(summary: ReviewSummary) -> dict[str, object]:
        """The fields that come from the summary."""
        return {
            "paragraphs": summary.paragraphs,
            "changed": summary.changed,
            "comments": summary.comments,
            "dismissed": summary.dismissed,
            "edits": EditCountsOut.of(summary.edits),
            "kinds": {kind: EditCountsOut.of(counts) for kind, counts in sorted(summary.by_kind.items())},
            "guards": dict(sorted(summary.findings.items())),
            "chapters": [
                ReviewChapterOut(number=number, title=title, edits=EditCountsOut.of(summary.by_chapter[number]))
                for number, title in summary.titles.items()
            ],
        }


class DecisionIn(BaseModel):
    """A decision on a paragraph: `edits` are numbers of edits, none means all."""

    model_config = _STRICT

    paragraph: ParagraphId
    version: Version = ""
    action: DecisionAction
    edits: list[Annotated[int, Field(ge=0, le=100_000)]] = Field(default_factory=list, max_length=10_000)
    text: str = Field("", max_length=MAX_TEXT, description="the new wording or the comment")
    finding: list[str] | None = Field(None, min_length=2, max_length=2, description="guard and message")

    def to_decision(self) -> ReviewDecision:
        """The decision."""
        finding = (self.finding[0], self.finding[1]) if self.finding else None
        action = ReviewAction(self.action)
        return ReviewDecision(
            self.paragraph, self.version, action, tuple(dict.fromkeys(self.edits)), self.text, finding
        )


class DecideRequest(BaseModel):
    """Decisions that are stored together and undone together."""

    model_config = _STRICT

    decisions: list[DecisionIn] = Field(min_length=1, max_length=MAX_ITEMS)
    author: Author = ""


class UndoRequest(BaseModel):
    """Whose last step to undo."""

    model_config = _STRICT

    author: Author = ""
    batch: str | None = Field(None, max_length=100, description="a step of the history; the last one if absent")


class RedoParagraphRequest(BaseModel):
    """A paragraph to be edited again by the model."""

    model_config = _STRICT

    paragraph: ParagraphId
    version: Version
    instruction: str = Field("", max_length=MAX_INSTRUCTION)
    author: Author = ""


class SearchRequest(BaseModel):
    """What to find in the texts of the book, and by what to replace it."""

    model_config = _STRICT

    find: str = Field(min_length=1, max_length=MAX_PATTERN)
    replacement: str = Field("", max_length=MAX_PATTERN)
    whole_word: bool = False
    regex: bool = False
    match_case: bool = True
    chapter: int | None = Field(None, ge=0, le=2**31 - 1)

    def to_search(self) -> TextSearch:
        """The search."""
        return TextSearch(self.find, self.replacement, self.whole_word, self.regex, self.match_case, self.chapter)


class ChosenParagraph(BaseModel):
    """A paragraph of a preview."""

    model_config = _STRICT

    id: ParagraphId
    version: Version


class ReplaceRequest(SearchRequest):
    """A replacement in the paragraphs that were chosen from its preview."""

    paragraphs: list[ChosenParagraph] = Field(min_length=1, max_length=MAX_ITEMS)
    author: Author = ""


class TextMatchOut(BaseModel):
    """A place with the words around it."""

    left: str
    found: str
    replacement: str
    right: str


class TextReplacementOut(BaseModel):
    """What a replacement would do to a paragraph."""

    id: str
    version: str
    chapter: int
    matches: list[TextMatchOut]
    text: str
    findings: list[ReviewFindingOut]
    refused: str

    @classmethod
    def of(cls, one: TextReplacement) -> TextReplacementOut:
        """The replacement as JSON."""
        known = one.paragraph
        return cls(
            id=known.id,
            version=known.version,
            chapter=known.row.planned.chapter,
            matches=[
                TextMatchOut(left=m.left, found=m.found, replacement=m.replacement, right=m.right) for m in one.matches
            ],
            text=one.text,
            findings=[
                ReviewFindingOut(guard=f.guard, severity=f.severity, message=f.message, dismissed=False)
                for f in one.findings
            ],
            refused=one.refused,
        )


class TextReplacementsOut(BaseModel):
    """The preview of a replacement."""

    paragraphs: list[TextReplacementOut]
    matches: int


class ReviewLogEntryOut(BaseModel):
    """A decision in the history."""

    id: int
    paragraph: str
    batch: str
    action: ReviewAction
    author: str
    at: datetime
    undone: bool
    detail: dict[str, object]

    @classmethod
    def of(cls, one: ReviewLogEntry) -> ReviewLogEntryOut:
        """The entry as JSON."""
        return cls(
            id=one.id,
            paragraph=one.paragraph,
            batch=one.batch,
            action=one.action,
            author=one.author,
            at=one.at,
            undone=one.undone,
            detail=one.detail,
        )


class ReviewHistoryOut(BaseModel):
    """Decisions with author and time."""

    entries: list[ReviewLogEntryOut]


class ReviewChangesOut(BaseModel):
    """The paragraphs that were decided about after a change, and the number of the last change."""

    paragraphs: list[ReviewParagraphOut]
    last_change: int


class LinkRequest(BaseModel):
    """A link for one reviewer."""

    model_config = _LAX_ENUMS

    name: str = Field(min_length=1, max_length=MAX_NAME, description="who will review; decisions carry this name")
    days: float = Field(14, gt=0, le=MAX_DAYS, allow_inf_nan=False)


class LinkOut(BaseModel):
    """A link. `token` and `address` are shown once, when it is made."""

    id: str
    name: str
    created: datetime
    expires: datetime
    revoked: datetime | None
    token: str | None = None
    address: str | None = None

    @classmethod
    def of(cls, link: ReviewLink, *, token: str | None = None) -> LinkOut:
        """The link as JSON."""
        address = f"/shared/{token}" if token else None
        return cls(
            id=link.id,
            name=link.name,
            created=link.created,
            expires=link.expires,
            revoked=link.revoked,
            token=token,
            address=address,
        )


class LinksOut(BaseModel):
    """The links of a book."""

    links: list[LinkOut]


REVIEW_REQUESTS = (DecideRequest, UndoRequest, RedoParagraphRequest, SearchRequest, ReplaceRequest, LinkRequest)

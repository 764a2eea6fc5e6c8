"""The counts of a review: edits by state, kind, guard and chapter; how long people worked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ape.review.edits import EditOrigin, EditState
from ape.review.log import ReviewLogEntry
from ape.review.paragraph import ReviewParagraph

# A longer pause between two decisions of a person is not counted as work.
LONGEST_PAUSE_SECONDS = 300.0
# What the first decision after a pause is taken to have cost.
FIRST_DECISION_SECONDS = 15.0


@dataclass(slots=True)
class EditCounts:
    """How many edits are in each state, and how many of them a person decided."""

    accepted: int = 0
    rejected: int = 0
    open: int = 0
    decided_accepted: int = 0
    decided_rejected: int = 0

    def add(self, state: EditState, *, decided: bool) -> None:
        """Count an edit."""
        setattr(self, state.value, getattr(self, state.value) + 1)
        self.decided_accepted += decided and state is EditState.ACCEPTED
        self.decided_rejected += decided and state is EditState.REJECTED

    @property
    def total(self) -> int:
        """All edits."""
        return self.accepted + self.rejected + self.open

    @property
    def acceptance(self) -> float | None:
        """The share of accepted edits among those that a person decided; None if there is none."""
        decided = self.decided_accepted + self.decided_rejected
        return self.decided_accepted / decided if decided else None


@dataclass(slots=True)
class ReviewSummary:
    """The counts of a book. `by_guard` counts the proposed edits in paragraphs with a finding of that guard."""

    edits: EditCounts = field(default_factory=EditCounts)
    by_kind: dict[str, EditCounts] = field(default_factory=lambda: defaultdict(EditCounts))
    by_guard: dict[str, EditCounts] = field(default_factory=lambda: defaultdict(EditCounts))
    by_chapter: dict[int, EditCounts] = field(default_factory=lambda: defaultdict(EditCounts))
    titles: dict[int, str] = field(default_factory=dict)
    findings: Counter[str] = field(default_factory=Counter)
    dismissed: int = 0
    paragraphs: int = 0
    changed: int = 0
    own_edits: int = 0
    comments: int = 0

    def add(self, one: ReviewParagraph) -> None:
        """Count a paragraph."""
        planned = one.row.planned
        self.paragraphs += 1
        self.changed += one.is_own_text
        self.comments += len(one.comments)
        self.titles.setdefault(planned.chapter, planned.title)
        guards = {finding.guard for finding in one.findings}
        self._add_findings(one)
        chapter = self.by_chapter[planned.chapter]
        for edit in one.edits:
            self.own_edits += edit.origin is EditOrigin.PERSON
            counters = [self.edits, chapter, self.by_kind[edit.edit.kind.value]]
            if edit.origin is not EditOrigin.PERSON:
                counters += (self.by_guard[guard] for guard in guards)
            for counts in counters:
                counts.add(edit.state, decided=edit.decided)

    def _add_findings(self, one: ReviewParagraph) -> None:
        for finding in one.findings:
            if one.is_dismissed(finding):
                self.dismissed += 1
            else:
                self.findings[finding.guard] += 1


def summarize(paragraphs: Iterable[ReviewParagraph]) -> ReviewSummary:
    """Count the paragraphs of a review."""
    summary = ReviewSummary()
    for one in paragraphs:
        summary.add(one)
    return summary


def work_seconds(entries: Iterable[ReviewLogEntry]) -> dict[str, float]:
    """How long each person worked, estimated from the times of the decisions."""
    last: dict[str, float] = {}
    seconds: dict[str, float] = defaultdict(float)
    batches: set[str] = set()
    for one in entries:
        if one.batch in batches:
            continue
        batches.add(one.batch)
        at = one.at.timestamp()
        pause = at - last.get(one.author, float("-inf"))
        seconds[one.author] += pause if pause <= LONGEST_PAUSE_SECONDS else FIRST_DECISION_SECONDS
        last[one.author] = at
    return dict(seconds)

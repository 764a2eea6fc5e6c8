"""Counts for the top of a book report, made while rows stream by; memory grows with chapters, not paragraphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.passage.result import Decision, Severity, Usage

# Every status of a paragraph, in the order of lists and stacked bars.
STATUSES = (
    *map(str, Decision),
    str(ParagraphState.QUARANTINED),
    str(ParagraphState.SKIPPED),
    str(ParagraphState.WAITING),
)


def paragraph_status(row: JobParagraph) -> str:
    """The decision on a finished paragraph, and the state of any other."""
    if row.state != ParagraphState.DONE:
        return str(row.state)
    return str(row.result.decision) if row.result else str(ParagraphState.WAITING)


def paragraph_anchor(row: JobParagraph) -> str:
    """The URL fragment of a paragraph: its id, or its number where the id is empty."""
    return row.planned.id or str(row.planned.position + 1)


@dataclass(slots=True)
class ChapterStatuses:
    """A chapter's paragraphs by status. `number` counts from 0."""

    number: int
    title: str
    statuses: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class EditRateBin:
    """Neighbouring paragraphs: anchor of the first, their number, and the sum of the known edit rates."""

    anchor: str
    first: int
    paragraphs: int = 0
    rated: int = 0
    rates: float = 0.0

    @property
    def rate(self) -> float | None:
        """The mean edit rate, or None where no paragraph is finished."""
        return self.rates / self.rated if self.rated else None

    def absorb(self, other: EditRateBin) -> None:
        """Merge the next bin into this one."""
        self.paragraphs += other.paragraphs
        self.rated += other.rated
        self.rates += other.rates


@dataclass(slots=True)
class EditRateSeries:
    """The edit rate along a book of unknown length; once there are `max_bins`, neighbouring bins are merged."""

    max_bins: int = 120
    width: int = 1
    bins: list[EditRateBin] = field(default_factory=list)

    def add(self, row: JobParagraph) -> None:
        """Count the next paragraph."""
        if not self.bins or self.bins[-1].paragraphs == self.width:
            if len(self.bins) == self.max_bins:
                self._halve()
            self.bins.append(EditRateBin(paragraph_anchor(row), row.planned.position))
        last = self.bins[-1]
        last.paragraphs += 1
        if row.state == ParagraphState.DONE and row.result:
            last.rated += 1
            last.rates += row.result.edit_rate

    def _halve(self) -> None:
        for first, second in zip(self.bins[::2], self.bins[1::2], strict=True):
            first.absorb(second)
        self.bins = self.bins[::2]
        self.width *= 2

    def even_bins(self) -> list[EditRateBin]:
        """The bins; a last bin of less than half the width is merged into the one before."""
        if len(self.bins) > 1 and self.bins[-1].paragraphs * 2 < self.width:
            self.bins[-2].absorb(self.bins.pop())
        return self.bins


@dataclass(slots=True)
class BookCounts:
    """The counts of a report. A guard counts once for each paragraph: as rejecting, otherwise as warning."""

    statuses: Counter[str] = field(default_factory=Counter)
    chapters: dict[int, ChapterStatuses] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)
    edit_rates: EditRateSeries = field(default_factory=EditRateSeries)
    models: set[str] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)

    def count(self, rows: Iterable[JobParagraph]) -> Iterator[JobParagraph]:
        """Yield the same rows, counting each."""
        for row in rows:
            self._add(row)
            yield row

    def _add(self, row: JobParagraph) -> None:
        planned, status = row.planned, paragraph_status(row)
        self.statuses[status] += 1
        chapter = self.chapters.setdefault(planned.chapter, ChapterStatuses(planned.chapter, planned.title))
        chapter.statuses[status] += 1
        self.edit_rates.add(row)
        if row.result:
            self.kinds.update(str(edit.kind) for edit in row.result.edits)
            rejected = {f.guard for f in row.result.findings if f.severity == Severity.REJECT}
            self.rejected.update(rejected)
            self.warned.update({f.guard for f in row.result.findings} - rejected)
            self.models.add(row.result.model)
            self.prompts.add(row.result.prompt)
            self.usage += row.result.usage

    @property
    def present_statuses(self) -> list[str]:
        """Statuses of at least one paragraph."""
        return [status for status in STATUSES if self.statuses[status]]

    @property
    def listed_statuses(self) -> list[str]:
        """Every decision, and the other statuses that occur."""
        return [status for status in STATUSES if self.statuses[status] or status in set(Decision)]

    @property
    def guards(self) -> Counter[str]:
        """Paragraphs by guard."""
        return self.rejected + self.warned

    def facts(self) -> dict[str, str]:
        """Model, prompt and tokens, by their label on the page."""
        tokens = f"{self.usage.prompt_tokens:,} read, {self.usage.completion_tokens:,} written"
        facts = {
            "Model": ", ".join(sorted(filter(None, self.models))),
            "Prompt": ", ".join(sorted(filter(None, self.prompts))),
            "Tokens": tokens if self.usage != Usage() else "",
        }
        return {name: value for name, value in facts.items() if value}

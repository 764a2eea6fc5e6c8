"""What the top of the report says, counted while the rows go by: it grows with the chapters, not with the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.passage.result import Decision, Severity, Usage

# Every status of a paragraph, in the order in which the page names and stacks them.
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
    """The fragment that leads to a paragraph: its id, or its number where the id is empty."""
    return row.planned.id or str(row.planned.position + 1)


@dataclass(slots=True)
class ChapterStatuses:
    """One chapter's paragraphs by status. `number` counts from 0, as in the book."""

    number: int
    title: str
    statuses: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class EditRateBin:
    """Neighbouring paragraphs: where they begin, how many, and the sum of the edit rates of those that have one."""

    anchor: str
    first: int
    paragraphs: int = 0
    rated: int = 0
    rates: float = 0.0

    @property
    def rate(self) -> float | None:
        """The mean edit rate, or None where nothing is finished yet."""
        return self.rates / self.rated if self.rated else None

    def absorb(self, other: EditRateBin) -> None:
        """Take in the stretch that follows."""
        self.paragraphs += other.paragraphs
        self.rated += other.rated
        self.rates += other.rates


@dataclass(slots=True)
class EditRateSeries:
    """The edit rate along a book of unknown length, in at most `most` stretches: when they are full, two become one."""

    most: int = 120
    width: int = 1
    stretches: list[EditRateBin] = field(default_factory=list)

    def add(self, row: JobParagraph) -> None:
        """Count the next paragraph."""
        if not self.stretches or self.stretches[-1].paragraphs == self.width:
            if len(self.stretches) == self.most:
                self._halve()
            self.stretches.append(EditRateBin(paragraph_anchor(row), row.planned.position))
        last = self.stretches[-1]
        last.paragraphs += 1
        if row.state == ParagraphState.DONE and row.result:
            last.rated += 1
            last.rates += row.result.edit_rate

    def _halve(self) -> None:
        for first, second in zip(self.stretches[::2], self.stretches[1::2], strict=True):
            first.absorb(second)
        self.stretches = self.stretches[::2]
        self.width *= 2

    def even(self) -> list[EditRateBin]:
        """The stretches; a last one too short to be compared with the others goes into the one before."""
        if len(self.stretches) > 1 and self.stretches[-1].paragraphs * 2 < self.width:
            self.stretches[-2].absorb(self.stretches.pop())
        return self.stretches


@dataclass(slots=True)
class BookCounts:
    """The numbers of a report. Guards are counted by paragraphs: refused, or else only warned of."""

    statuses: Counter[str] = field(default_factory=Counter)
    chapters: dict[int, ChapterStatuses] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)
    along: EditRateSeries = field(default_factory=EditRateSeries)
    models: set[str] = field(default_factory=set)
    prompts: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)

    def count(self, rows: Iterable[JobParagraph]) -> Iterator[JobParagraph]:
        """The same rows, each counted as it passes."""
        for row in rows:
            self._add(row)
            yield row

    def _add(self, row: JobParagraph) -> None:
        planned, status = row.planned, paragraph_status(row)
        self.statuses[status] += 1
        chapter = self.chapters.setdefault(planned.chapter, ChapterStatuses(planned.chapter, planned.title))
        chapter.statuses[status] += 1
        self.along.add(row)
        if row.result:
            self.kinds.update(str(edit.kind) for edit in row.result.edits)
            refused = {f.guard for f in row.result.findings if f.severity == Severity.REJECT}
            self.refused.update(refused)
            self.warned.update({f.guard for f in row.result.findings} - refused)
            self.models.add(row.result.model)
            self.prompts.add(row.result.prompt)
            self.usage += row.result.usage

    @property
    def present(self) -> list[str]:
        """The statuses that there are."""
        return [status for status in STATUSES if self.statuses[status]]

    @property
    def named(self) -> list[str]:
        """The statuses to name: every decision, and what else there is."""
        return [status for status in STATUSES if self.statuses[status] or status in set(Decision)]

    @property
    def guards(self) -> Counter[str]:
        """Paragraphs by the guards that had something to say."""
        return self.refused + self.warned

    def facts(self) -> dict[str, str]:
        """What was used, in the words of the page."""
        tokens = f"{self.usage.prompt_tokens:,} read, {self.usage.completion_tokens:,} written"
        facts = {
            "Model": ", ".join(sorted(filter(None, self.models))),
            "Prompt": ", ".join(sorted(filter(None, self.prompts))),
            "Tokens": tokens if self.usage != Usage() else "",
        }
        return {name: value for name, value in facts.items() if value}

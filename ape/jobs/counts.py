"""Counts of a job's paragraphs."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ape.passage.result import Usage


@dataclass(frozen=True, slots=True)
class JobCounts:
    """Paragraphs by result. `words` counts the words of the MT that is to be edited."""

    waiting: int = 0
    edited: int = 0
    unchanged: int = 0
    rejected: int = 0
    quarantined: int = 0
    skipped: int = 0
    words: int = 0
    words_done: int = 0
    words_waiting: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def done(self) -> int:
        """Paragraphs with a result."""
        return self.edited + self.unchanged + self.rejected

    @property
    def total(self) -> int:
        """All paragraphs of the book."""
        return self.waiting + self.done + self.quarantined + self.skipped

    @property
    def usage(self) -> Usage:
        """The tokens of the results that are in the book."""
        return Usage(self.prompt_tokens, self.completion_tokens)

    def token_counts(self) -> dict[str, int]:
        """The tokens that a job counts, as JSON."""
        return {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}


COUNT_NAMES = tuple(field.name for field in fields(JobCounts))


@dataclass(frozen=True, slots=True)
class ChapterCounts:
    """The counts of one chapter."""

    chapter: int
    title: str
    counts: JobCounts


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """Changes that a new plan found: paragraphs that are new, unchanged (`kept`), changed, or removed from the book.

    `reused` of the new and changed ones got an earlier result.
    """

    new: int = 0
    kept: int = 0
    changed: int = 0
    removed: int = 0
    reused: int = 0


@dataclass(frozen=True, slots=True)
class ModelRate:
    """Recent speed of a model: means over a number of `passages`."""

    passages: int
    seconds: float
    prompt_tokens: float
    completion_tokens: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens written in a second of one request."""
        return self.completion_tokens / self.seconds if self.seconds else 0.0

"""How a job stands, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ape.passage.result import Usage


@dataclass(frozen=True, slots=True)
class JobCounts:
    """Paragraphs by what became of them. `words` are those of the MT that is to be edited."""

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


@dataclass(frozen=True, slots=True)
class ChapterCounts:
    """The same for one chapter."""

    chapter: int
    title: str
    counts: JobCounts


@dataclass(frozen=True, slots=True)
class PlanChanges:
    """What planning again found: paragraphs that are new, as they were, changed or no longer there.

    `taken` of the new and changed ones have a result from before.
    """

    new: int = 0
    kept: int = 0
    changed: int = 0
    gone: int = 0
    taken: int = 0


@dataclass(frozen=True, slots=True)
class ModelRate:
    """How fast a model was of late: means over so many `passages`."""

    passages: int
    seconds: float
    prompt_tokens: float
    completion_tokens: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens written in a second of one request."""
        return self.completion_tokens / self.seconds if self.seconds else 0.0

"""The answer to a passage: a post-edit with its edits, or the MT back with the findings against each draft."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ape.passage.edit import Edit


class Severity(StrEnum):
    """How much a finding weighs: `reject` refuses the draft, `warn` only tells."""

    REJECT = "reject"
    WARN = "warn"


class Decision(StrEnum):
    """What became of the MT."""

    EDITED = "edited"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard saw in a draft, in words for a translator. `attempt` counts from 1; 0 is the MT itself."""

    guard: str
    severity: Severity
    message: str
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written by the model, over all attempts."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens
        )


@dataclass(frozen=True, slots=True)
class PostEdit:
    """A passage after the work: `post_edit` is the MT untouched unless the decision is "edited".

    `attempt` is the draft that was taken, and 0 where none was.
    """

    id: str
    post_edit: str
    decision: Decision
    findings: tuple[Finding, ...]
    edits: tuple[Edit, ...]
    edit_rate: float
    model: str
    prompt: str
    usage: Usage
    attempt: int = 0

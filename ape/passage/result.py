"""The result for a passage: a post-edit with its edits, or the MT with the findings against each draft."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from ape.passage.edit import Edit


class Severity(StrEnum):
    """Whether a finding rejects the draft or only warns."""

    REJECT = "reject"
    WARN = "warn"


class Decision(StrEnum):
    """What became of the MT."""

    EDITED = "edited"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a guard reports about a draft, for a translator. `attempt` counts drafts from 1; 0 is the MT."""

    guard: str
    severity: Severity
    message: str
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of prompts and completions, over all attempts.

    Servers that take a prediction count its accepted and its rejected tokens; the completion includes both.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    accepted_prediction_tokens: int = 0
    rejected_prediction_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class PostEdit:
    """The result for a passage. `post_edit` is the MT unchanged unless the decision is "edited".

    `attempt` is the number of the accepted draft, or 0.
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

"""Events emitted while a passage is post-edited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ape.passage.result import Finding, PostEdit


@dataclass(frozen=True, slots=True)
class AttemptEvent:
    """A draft is requested. `attempt` counts drafts, from 1; several may be in progress."""

    attempt: int
    seed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A piece of a draft arrived."""

    text: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class RetryEvent:
    """The model server failed; the draft is requested again."""

    reason: str
    wait_seconds: float
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """A guard reported a finding."""

    finding: Finding


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The passage is finished."""

    result: PostEdit


Event = AttemptEvent | TokenEvent | RetryEvent | FindingEvent | DoneEvent
Listener = Callable[[Event], None]


def ignore_event(event: Event) -> None:
    """A listener that does nothing."""

"""What happens to a passage while it is worked on, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ape.passage.result import Finding, PostEdit


@dataclass(frozen=True, slots=True)
class AttemptEvent:
    """A draft is being asked for. Attempts count drafts, from 1; several may be drawn at once."""

    attempt: int
    seed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A piece of a draft came in."""

    text: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class RetryEvent:
    """The model server failed; the draft starts over."""

    reason: str
    wait_seconds: float
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class FindingEvent:
    """A guard spoke."""

    finding: Finding


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The passage is finished."""

    result: PostEdit


Event = AttemptEvent | TokenEvent | RetryEvent | FindingEvent | DoneEvent
Listener = Callable[[Event], None]


def ignore_event(event: Event) -> None:
    """A listener that does not care."""

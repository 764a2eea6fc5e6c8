"""What happens to a passage while it is worked on, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ape.verdict import Finding, PostEdit


@dataclass(frozen=True, slots=True)
class Attempt:
    """A draft is being asked for. Attempts count drafts, from 1; several may be drawn at once."""

    attempt: int
    seed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a draft came in."""

    text: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Retry:
    """The model server failed; the draft starts over."""

    reason: str
    wait_seconds: float
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """A guard spoke."""

    finding: Finding


@dataclass(frozen=True, slots=True)
class Done:
    """The passage is finished."""

    result: PostEdit


Event = Attempt | Token | Retry | Found | Done
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """A listener that does not care."""

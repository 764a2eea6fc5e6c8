"""The options of a post-edit."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MODEL_NAME = "default"


@dataclass(frozen=True, slots=True)
class Options:
    """How a passage is worked on. Nucleus 0.2 is what PAR3 decoded with.

    `candidates` are drawn at once in every attempt, and the best is taken. `max_tokens` is worked out from the MT if
    left out.
    """

    model: str = DEFAULT_MODEL_NAME
    temperature: float = 0.0
    top_p: float = 0.2
    seed: int = 1
    max_attempts: int = 2
    candidates: int = 1
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()

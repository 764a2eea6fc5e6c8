"""The passage under repair, and the draft a model makes of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """A paragraph that came before: its source, and its target as already edited."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Segment:
    """One passage: what the author wrote and what the machine made of it.

    Languages are lower-case ISO 639 codes ("fr", "zh"). `glossary` pairs source terms with the wording to use.
    """

    source: str
    mt: str
    source_language: str
    target_language: str
    context: tuple[Context, ...] = ()
    glossary: tuple[tuple[str, str], ...] = ()
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """A token of a draft with its log-probability, and those of some that were not chosen."""

    text: str
    logprob: float
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model answered. `finish_reason` is the server's: "stop", or "length" when it was cut off.

    `chances` are its tokens, where they were asked for and the server tells.
    """

    text: str
    finish_reason: str = "stop"
    chances: tuple[TokenLogprobs, ...] = ()

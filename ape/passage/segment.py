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
    """A token of a draft with its log-probability, and the log-probabilities of alternatives."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model answered. `finish_reason` is the server's: "stop", or "length" for a truncated draft.

    `logprobs` are its tokens, if they were requested and the server reports them.
    """

    text: str
    finish_reason: str = "stop"
    logprobs: tuple[TokenLogprobs, ...] = ()

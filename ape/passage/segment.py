"""A passage, and the draft that a model makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ape.passage.options import MAX_CONTEXT, Glossary, Instructions
from ape.text.languages import resolve_languages


@dataclass(frozen=True, slots=True)
class Context:
    """A preceding paragraph: its source, and its target as already edited."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class CastMember:
    """Somebody or something that the passage or its neighbours name: the wording to use, and the gender if it is known.

    `other_wordings` are right too; `wrong_wordings` were seen and are wrong. A person confirmed a `confirmed` one.
    """

    source: str
    wording: str
    gender: str = ""
    other_wordings: tuple[str, ...] = ()
    wrong_wordings: tuple[str, ...] = ()
    confirmed: bool = False
    in_passage: bool = True


@dataclass(frozen=True, slots=True)
class Segment:
    """A passage: its source text and machine translation.

    Languages are lower-case ISO 639 codes ("fr", "zh"), detected if left out. `glossary` pairs source terms with the
    wording to use. `cast` is what the ledger of its book knows of the names in it and before it.
    """

    source: str
    mt: str
    source_language: str = ""
    target_language: str = ""
    context: Annotated[tuple[Context, ...], MAX_CONTEXT] = ()
    glossary: Glossary = ()
    instructions: Instructions = ""
    cast: tuple[CastMember, ...] = ()

    def __post_init__(self) -> None:
        if self.source_language and self.target_language:
            return
        languages = resolve_languages(self.source, self.mt, self.source_language, self.target_language)
        for name, language in zip(("source_language", "target_language"), languages, strict=True):
            object.__setattr__(self, name, language)


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

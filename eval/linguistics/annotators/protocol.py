"""The annotator protocol: sentences of tokens with tags and lemmas, and named entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark with its offset, tag (Penn for English, CTB for Chinese) and lemma."""

    text: str
    start: int
    tag: str
    lemma: str

    @property
    def end(self) -> int:
        """The offset after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name without a trailing ’s, its offset, and its OntoNotes label (PERSON, GPE …)."""

    text: str
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A phrase that refers to an entity: its offsets, kind (name, common or pronoun) and type (PER, FAC, GPE …)."""

    start: int
    end: int
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotated text; `sentences` are the indices of sentence-initial tokens.

    `mentions` may be nested; only the literary annotator finds them.
    """

    tokens: tuple[Token, ...]
    entities: tuple[NamedEntity, ...] = ()
    sentences: tuple[int, ...] = (0,)
    mentions: tuple[EntityMention, ...] = ()


class Annotator(Protocol):
    """Annotates texts of one language, deterministically."""

    @property
    def name(self) -> str:
        """For signatures, with its version: "textblob-0.20.1+names", "spacy-3.8/en_core_web_sm"."""

    @property
    def language(self) -> str:
        """The language code: "en", "zh"."""

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""


def strip_possessive(entity: NamedEntity) -> NamedEntity:
    """Remove a trailing ’s."""
    name = entity.text.removesuffix("’s").removesuffix("'s").rstrip()
    return NamedEntity(name, entity.start, entity.start + len(name), entity.label)

"""What a metric may ask of a linguistic annotator: sentences of tokens with tags and lemmas, and entities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark where it stands in the text, with its tag (Penn for English, CTB for Chinese) and its lemma."""

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
    """A name: its text without a trailing ’s, where it stands, and its label as OntoNotes has it (PERSON, GPE …)."""

    text: str
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """One text, annotated; `sentences` are the indices of the tokens that begin one."""

    tokens: tuple[Token, ...]
    entities: tuple[NamedEntity, ...] = ()
    sentences: tuple[int, ...] = (0,)


class Annotator(Protocol):
    """Annotates texts of one language. The same text always gets the same annotation."""

    @property
    def name(self) -> str:
        """For signatures, with its version: "textblob-0.20.1+names", "spacy-3.8/en_core_web_sm"."""

    @property
    def language(self) -> str:
        """As "en", "zh"."""

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""


def strip_possessive(entity: NamedEntity) -> NamedEntity:
    """The same without a trailing ’s."""
    bare = entity.text.removesuffix("’s").removesuffix("'s").rstrip()
    return NamedEntity(bare, entity.start, entity.start + len(bare), entity.label)

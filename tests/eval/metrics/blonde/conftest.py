"""Texts with inline tags, so that counts can be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotation, NamedEntity, Token


@dataclass(frozen=True)
class InlineTagAnnotator:
    """Reads "Anna/NNP left/VBD": NNP is a person, GPE a place, both tagged as names."""

    name: str = "written-1"
    language: str = "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [_annotation(text) for text in texts]


def _annotation(text: str) -> Annotation:
    tokens, entities, place = [], [], 0
    for piece in text.split():
        word, _, tag = piece.partition("/")
        start = text.index(piece, place)
        place = start + len(piece)
        tokens.append(Token(word, start, tag, word))
        if tag in ("NNP", "GPE"):
            label = "PERSON" if tag == "NNP" else "GPE"
            entities.append(NamedEntity(word, start, start + len(word), label))
    return Annotation(tuple(tokens), tuple(entities))


def corpus(output: Sequence[str], *references: Sequence[str | None], language: str = "en") -> Corpus:
    """One document of one system."""
    return Corpus((Document("d", {"mt": tuple(output)}, tuple(map(tuple, references))),), "zh", language)

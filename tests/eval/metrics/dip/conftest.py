"""A tiny annotator with tags and lemmas from a table, and the real one that needs no download."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator, annotator_for
from eval.linguistics.annotators.protocol import Annotation, Token

_TAGS = {
    "lantern": "NN", "lanterns": "NNS", "lamp": "NN", "lamps": "NNS", "harbour": "NN", "ship": "NN", "sailor": "NN",
    "Mira": "NNP", "Oskar": "NNP", "red": "JJ", "old": "JJ", "lit": "VBD", "left": "VBD", "saw": "VBD",
    "gave": "VBD", "slept": "VBD", "sang": "VBD", "was": "VBD", "the": "DT", "a": "DT", "that": "DT",
    "he": "PRP", "she": "PRP", "it": "PRP", "him": "PRP", "her": "PRP", "his": "PRP$", "they": "PRP", "you": "PRP",
}  # fmt: skip
_LEMMAS = {"lanterns": "lantern", "lamps": "lamp", "lit": "light", "left": "leave", "gave": "give", "was": "be"}


@dataclass(frozen=True, slots=True)
class TableAnnotator:
    """Words with tags from a table; other words are adverbs."""

    name: str = "listed"
    language: str = "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [_annotated(text) for text in texts]


def _annotated(text: str) -> Annotation:
    tokens = tuple(
        Token(word, found.start(), _tag(word), _LEMMAS.get(word.lower(), word.lower()))
        for found in re.finditer(r"\w+|[^\w\s]", text)
        if (word := found.group())
    )
    ends = [at + 1 for at, token in enumerate(tokens) if token.text in ".?!" and at + 1 < len(tokens)]
    return Annotation(tokens, sentences=(0, *ends))


def _tag(word: str) -> str:
    return _TAGS.get(word) or _TAGS.get(word.lower()) or ("RB" if word.isalpha() else word)


def corpus_of(outputs: Sequence[str], reference: Sequence[str], *, language: str = "en") -> Corpus:
    """One document, with a system called "mine"."""
    sources = tuple(f"源{number}" for number in range(len(reference)))
    one = Document("one", {"mine": tuple(outputs)}, (tuple(reference),), sources)
    return Corpus((one,), "zh", language)


@pytest.fixture
def listed() -> Annotator:
    return TableAnnotator()


@dataclass(frozen=True, slots=True)
class CachingAnnotator:
    """The real annotator, with results shared by all tests."""

    annotator: Annotator
    known: dict[str, Annotation] = field(default_factory=dict)
    language: str = "en"

    @property
    def name(self) -> str:
        return self.annotator.name

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        self.known.update(zip(new, self.annotator.annotate(new), strict=True))
        return [self.known[text] for text in texts]


@pytest.fixture(scope="session")
def english() -> Annotator:
    return CachingAnnotator(annotator_for("en", prefer="textblob"))

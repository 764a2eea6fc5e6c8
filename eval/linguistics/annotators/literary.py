"""The literary annotator: our tokens and sentences, and a network trained on LitBank for tags, names and mentions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from eval.linguistics.annotators.english_lemmas import lemma
from eval.linguistics.annotators.english_tokens import token_spans
from eval.linguistics.annotators.protocol import Annotation, EntityMention, NamedEntity, Token
from eval.linguistics.annotators.sentence_starts import sentence_starts
from eval.linguistics.literary.reading import WordsReading, read_words
from eval.linguistics.literary.weights import load_model

_RULES = 3
_ONTONOTES = {"PER": "PERSON", "VEH": "PRODUCT"}


@dataclass(frozen=True, slots=True)
class LiteraryAnnotator:
    """Penn tags, names of six types, and nested mentions, for English fiction; no download.

    Names are those of persons, buildings, places of two kinds, vehicles and organisations; it knows no peoples, dates
    or works of art. Each text is read by itself, in stretches of whole sentences. It has no use for worker processes,
    as numpy's matrix products use all processors.
    """

    @property
    def name(self) -> str:
        """The name with a digest of the weights."""
        return f"literary-{load_model().version}+simplemma-{version('simplemma')}+rules-{_RULES}"

    @property
    def language(self) -> str:
        """English."""
        return "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""
        spans = [token_spans(text) for text in texts]
        starts = [
            sentence_starts(text, [start for start, _ in found]) for text, found in zip(texts, spans, strict=True)
        ]
        words = [[text[start:end] for start, end in found] for text, found in zip(texts, spans, strict=True)]
        readings = read_words(load_model(), list(zip(words, starts, strict=True)))
        return [_annotation(*one) for one in zip(texts, spans, words, starts, readings, strict=True)]


def _annotation(
    text: str, spans: Sequence[tuple[int, int]], words: Sequence[str], starts: tuple[int, ...], reading: WordsReading
) -> Annotation:
    tokens = tuple(
        Token(word, start, tag, lemma(word, tag))
        for word, (start, _), tag in zip(words, spans, reading.tags, strict=True)
    )
    names = []
    for (first, after), label in sorted(reading.names.items()):
        start, end = spans[first][0], spans[after - 1][1]
        names.append(NamedEntity(text[start:end], start, end, _ONTONOTES.get(label, label)))
    mentions = []
    for (first, after), described in sorted(reading.mentions.items()):
        if bisect_right(starts, first) != bisect_right(starts, after - 1):
            continue  # it crosses the end of a sentence
        kind, _, label = described.partition(" ")
        mentions.append(EntityMention(spans[first][0], spans[after - 1][1], kind, label or "PER"))
    return Annotation(tokens, tuple(names), starts, tuple(mentions))

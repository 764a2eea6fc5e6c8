"""English annotation without downloads: our tokens and sentences, TextBlob tags, simplemma lemmas, names by rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise

from eval.linguistics.annotators import english_tags
from eval.linguistics.annotators.english_lemmas import lemma
from eval.linguistics.annotators.english_names import find_names
from eval.linguistics.annotators.english_tokens import token_spans
from eval.linguistics.annotators.protocol import Annotation, Token
from eval.linguistics.annotators.sentence_starts import sentence_starts

# Increase it with every change of the rules: it is part of signatures and cache keys.
_RULES = 2


@dataclass(frozen=True, slots=True)
class EnglishAnnotator:
    """Fast and approximate: tags by lexicon and context rules, names by `english_names`.

    Without parser, statistics or word senses. Scores with it are comparable to each other but not to scores with spaCy;
    its name is in every signature.
    """

    @property
    def name(self) -> str:
        """The name with the versions of its libraries."""
        return f"textblob-{version('textblob')}+simplemma-{version('simplemma')}+names-{_RULES}"

    @property
    def language(self) -> str:
        """English."""
        return "en"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation for each text, in order."""
        return [_annotate(text) for text in texts]


def _annotate(text: str) -> Annotation:
    found = token_spans(text)
    if not found:
        return Annotation((), (), ())
    starts = sentence_starts(text, [start for start, _ in found])
    tokens: list[Token] = []
    for first, last in pairwise((*starts, len(found))):
        words = [text[start:end] for start, end in found[first:last]]
        for (start, _), word, tag in zip(found[first:last], words, english_tags.tag_words(words), strict=True):
            tokens.append(Token(word, start, tag, lemma(word, tag)))
    return Annotation(tuple(tokens), find_names(text, tokens, starts), starts)

"""METEOR by NLTK: words matched by form, by stem, and by synonym if WordNet is installed.

WordNet is a separate download. Without it there are no synonyms and the signature says "synonyms:no"; such scores are
lower and not comparable with those that use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from eval.corpus.corpus import Corpus
from eval.metrics.metric import metric_signature
from eval.metrics.segments import UNSPACED_LANGUAGES, segments_with_references, unmeasured_without_spaces
from eval.statistics.counts import MetricCounts, Unmeasured, mean_fold


class _Stemmer(Protocol):
    def stem(self, token: str) -> str: ...


class _IdentityStemmer:
    """For languages without a stemmer."""

    def stem(self, token: str) -> str:
        return token


class _NoSynonyms:
    """A replacement for WordNet without synonyms."""

    def synsets(self, word: str) -> list[Any]:
        return []


@dataclass(frozen=True, slots=True)
class Meteor:
    """The mean over segments, 0 to 100; the best of several references."""

    name: str = "meteor"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """One score for each segment."""
        from nltk.translate.meteor_score import single_meteor_score
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

        language = corpus.target_language
        if language in UNSPACED_LANGUAGES:
            return unmeasured_without_spaces("METEOR", language, "use chrf")
        segments = segments_with_references(corpus, system)
        if isinstance(segments, Unmeasured):
            return segments
        tokenize = Tokenizer13a()  # type: ignore[no-untyped-call]
        stemmer, stem = _stemmer(language)
        known = language == "en" and _has_wordnet()
        synonyms = _wordnet() if known else _NoSynonyms()

        def score(output: Sequence[str], reference: str) -> float:
            words = tokenize(reference).split()
            return float(single_meteor_score(words, output, str.lower, stemmer, synonyms))

        rows = np.ones((len(segments.outputs), 2))
        for place, (output, given) in enumerate(zip(segments.outputs, segments.references, strict=True)):
            words = tokenize(output).split()
            rows[place, 0] = 100 * max(score(words, text) for text in given) if words else 0.0
        recipe = {"nrefs": segments.reference_count, "tok": "13a", "stem": stem, "synonyms": known}
        signature = metric_signature(self.name, **recipe, agg="mean", nltk=_version())
        return MetricCounts(rows, segments.documents, mean_fold(), signature)


def _stemmer(language: str) -> tuple[_Stemmer, str]:
    if language != "en":
        return _IdentityStemmer(), "no"
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer(), "porter"


def _wordnet() -> Any:
    from nltk.corpus import wordnet

    return wordnet


@cache
def _has_wordnet() -> bool:
    try:
        return bool(_wordnet().synsets("dog"))
    except LookupError:
        return False


def _version() -> str:
    from importlib.metadata import version

    return version("nltk")

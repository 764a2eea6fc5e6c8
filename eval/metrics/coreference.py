"""Coreference: whether the output refers to the same people and things in the same places as the reference.

Both texts are resolved by the same resolver, and their groups of mentions are compared by MUC, B³ and CEAFe. A mention
of the output and one of the reference are the same if they are in the same segment and have the same head word (for
pronouns, the same person), counted from its first occurrence. So a lost or wrong pronoun and another name both cost
recall and precision, and so does a pronoun that seems to refer to someone else than in the reference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.corpus.corpus import Corpus
from eval.linguistics.annotators import Annotator
from eval.linguistics.annotators.protocol import Annotation
from eval.linguistics.coreference.described_mention import head_place
from eval.linguistics.coreference.genders import pronoun_type
from eval.linguistics.coreference.partition import MentionKey, Partition, build_partition
from eval.linguistics.coreference.resolver import CoreferenceResolver, Mention
from eval.linguistics.coreference.scorers import SCORERS
from eval.linguistics.coreference.trained_resolver import default_resolver
from eval.metrics.annotator import annotator_or_unmeasured
from eval.metrics.metric import metric_signature
from eval.statistics.counts import FloatArray, Fold, MetricCounts, Unmeasured

_SCORERS = ("muc", "b3", "ceafe")
_COLUMNS = 4
_NAMES = {"muc": "MUC", "b3": "B³", "ceafe": "CEAFe"}


@dataclass(frozen=True, slots=True)
class CoreferenceMatch:
    """CoNLL F1 of the output's groups of mentions against those of the first reference; parts by scorer."""

    resolver: CoreferenceResolver | None = None
    annotator: Annotator | None = None
    name: str = "coreference"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each document with a reference and each scorer: found and all of the reference, and of the output."""
        annotator = annotator_or_unmeasured(corpus.target_language, self.annotator)
        if isinstance(annotator, Unmeasured):
            return annotator
        resolver = self.resolver or default_resolver(annotator)
        rows, documents = [], []
        for number, document in enumerate(corpus.documents):
            if document.references:
                reference = [text or "" for text in document.references[0]]
                key, response = (
                    partition_of(texts, resolver.resolve(texts))
                    for texts in (annotator.annotate(reference), annotator.annotate(document.outputs[system]))
                )
                rows.append([value for name in _SCORERS for value in SCORERS[name].count(key, response)])
                documents.append(number)
        if not rows:
            return Unmeasured("there is no reference")
        signature = metric_signature(
            self.name, reference="first", mentions="head", resolver=resolver.name, annotator=annotator.name
        )
        return MetricCounts(
            np.asarray(rows, dtype=float),
            np.asarray(documents, dtype=np.intp),
            _conll_f1,
            signature,
            unit="document",
            parts={_NAMES[name]: _f1(place) for place, name in enumerate(_SCORERS)},
        )


def partition_of(segments: Sequence[Annotation], mentions: Sequence[Sequence[Mention]]) -> Partition:
    """The groups of a document's mentions, each mention by its segment, its head, and which of these it is."""
    groups: dict[str, list[MentionKey]] = {}
    for number, (segment, inside) in enumerate(zip(segments, mentions, strict=True)):
        seen: Counter[str] = Counter()
        for one in inside:
            head = _head_word(segment, one)
            seen[head] += 1
            groups.setdefault(one.entity, []).append((number, head, seen[head]))
    return build_partition(groups.values())


def _head_word(segment: Annotation, mention: Mention) -> str:
    inside = [token for token in segment.tokens if mention.start <= token.start < mention.end]
    words = [token.text for token in inside]
    if mention.pronoun or not words:
        return pronoun_type("".join(words)) or "".join(words).lower()
    return words[head_place(words, [token.tag for token in inside], 0, len(words))].lower()


def _f1(place: int) -> Fold:
    """F1 of one scorer; NaN where neither side has anything to count."""
    name, columns = _SCORERS[place], slice(_COLUMNS * place, _COLUMNS * (place + 1))

    def fold(sums: FloatArray) -> FloatArray:
        own = sums[..., columns]
        f1 = SCORERS[name].fold(own)[2]
        return np.where(own[..., 1] + own[..., 3] > 0, f1, np.nan)

    return fold


def _conll_f1(sums: FloatArray) -> FloatArray:
    """The mean of the three F1; NaN where there is no mention. Without links, MUC is 0, as in the CoNLL scorer."""
    found = np.mean([np.nan_to_num(_f1(place)(sums)) for place in range(len(_SCORERS))], axis=0)
    return np.where(np.isnan(_f1(1)(sums)), np.nan, found)

"""Accuracy of gender: whether the pronouns of an output agree with the reference where a character is named.

The ledger is built from the source and the first reference. A segment is decided if the entities that its source names
have one gender, female or male, the references use pronouns of that gender and none of the other one, and the output
uses pronouns of either. It is right if the output has none of the other gender. All other segments are undecided: with
two genders a pronoun may refer to either, and an output without a pronoun says nothing wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import regex

from ape.ledger.entity import Gender
from ape.ledger.links import LedgerIndex
from eval.corpus.corpus import Corpus, Document
from eval.metrics.counts_cache import count_once
from eval.metrics.ledger_names import corpus_ledger
from eval.metrics.metric import metric_signature
from eval.statistics.counts import MetricCounts, Unmeasured, share_fold

_PRONOUNS: Mapping[Gender, regex.Pattern[str]] = {
    Gender.FEMALE: regex.compile(r"\b(?:she|her|hers|herself)\b", regex.I),
    Gender.MALE: regex.compile(r"\b(?:he|him|his|himself)\b", regex.I),
}


@dataclass(frozen=True, slots=True)
class GenderAccuracy:
    """The share of decided segments whose pronouns have the gender of the reference, 0 to 1."""

    name: str = "gender-accuracy"
    higher_is_better: bool = True

    def count(self, corpus: Corpus, system: str) -> MetricCounts | Unmeasured:
        """For each segment, whether it is right and whether it is decided."""
        if not any(document.references_of(0) for document in corpus.documents if document.sources):
            return Unmeasured("there is no reference")
        pair = f"{corpus.source_language}-{corpus.target_language}"
        signature = metric_signature(self.name, ledger="source+reference", languages=pair)
        rows = count_once(corpus, system, signature, lambda: _rows(corpus, system))
        if isinstance(rows, str):
            return Unmeasured(rows)
        documents = [number for number, _, _ in corpus.segments()]
        return MetricCounts(
            np.asarray(rows, dtype=float), np.asarray(documents, dtype=np.intp), share_fold([0], [1]), signature
        )


def _rows(corpus: Corpus, system: str) -> list[tuple[int, int]] | str:
    """The decision on each segment, or why there is none."""
    index = corpus_ledger(corpus, _first_reference)
    if isinstance(index, Unmeasured):
        return index.why
    return [_decision(document, segment, system, index) for _, document, segment in corpus.segments()]


def _first_reference(document: Document, segment: int) -> str:
    return next(iter(document.references_of(segment)), "")


def _decision(document: Document, segment: int, system: str, index: LedgerIndex) -> tuple[int, int]:
    genders = {entity.gender for entity in index.entities_in(document.sources[segment])} & _PRONOUNS.keys()
    references = document.references_of(segment)
    if len(genders) != 1 or not references:
        return 0, 0
    (gender,) = genders
    if any(_genders_in(reference) != {gender} for reference in references):
        return 0, 0
    found = _genders_in(document.outputs[system][segment])
    return int(found == {gender}), int(bool(found))


def _genders_in(text: str) -> set[Gender]:
    return {gender for gender, pattern in _PRONOUNS.items() if pattern.search(text)}

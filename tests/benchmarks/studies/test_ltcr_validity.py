"""The references of the annotated test set are consistent by construction; a corrupted copy is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchmarks.studies.ltcr_validity import LTCR_FILE, add_corrupted_system
from eval.corpus.corpus import Corpus
from eval.linguistics.annotators.protocol import Annotation
from eval.linguistics.word_alignment import EflomalAligner
from eval.metrics.ltcr.chains import AnnotatedChains, read_annotated_chains
from eval.metrics.ltcr.metric import Ltcr
from eval.statistics.counts import MetricCounts, Score
from eval.suites.ltcr import read_test_set

DOCUMENTS = 40


@dataclass(frozen=True, slots=True)
class Untagged:
    """An annotator that splits words and tags all of them "other"."""

    name: str = "untagged"
    language: str = "zh"

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        return [Annotation(())] * len(texts)


@pytest.fixture(scope="module")
def annotated(shared_data: Path) -> dict[str, AnnotatedChains]:
    return read_annotated_chains(shared_data / LTCR_FILE)


@pytest.fixture(scope="module")
def corpus(shared_data: Path, annotated: dict[str, AnnotatedChains]) -> Corpus:
    return add_corrupted_system(read_test_set(shared_data / LTCR_FILE), annotated)


def scored(metric: Ltcr, corpus: Corpus, system: str) -> Score:
    counted = metric.count(corpus, system)
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_the_references_are_consistent_by_their_annotation(
    corpus: Corpus, annotated: dict[str, AnnotatedChains]
) -> None:
    metric = Ltcr(annotated=annotated, annotator=Untagged(), read="annotation")
    counted = metric.count(corpus, "reference")
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    assert score.value == 100  # by construction of the set
    assert counted.rows.shape[0] == 310
    # Both of a pair are unchanged with a probability of 0.8², or 64%; less if a sentence has two occurrences.
    assert scored(metric, corpus, "corrupted").value == pytest.approx(58.95, abs=0.01)  # measured, with this seed


@pytest.mark.subprocess
def test_with_an_aligner_both_scores_fall_alike(corpus: Corpus, annotated: dict[str, AnnotatedChains]) -> None:
    few = replace(corpus, documents=corpus.documents[:DOCUMENTS])
    linked = Ltcr(
        annotated=annotated, annotator=Untagged(), aligner=EflomalAligner("zh", "en", samplers=1, iterations=0.3)
    )
    given = replace(linked, read="annotation")
    reference, corrupted = (scored(linked, few, system) for system in ("reference", "corrupted"))
    error = reference.parts["aligner's error"]
    assert error is not None
    # A small sample: measured 88.5; `python -m benchmarks.studies.ltcr_validity` measures the whole set.
    assert reference.value >= 85
    # The difference is the aligner's error only.
    assert reference.value + error == pytest.approx(100, abs=0.5)
    fall = scored(given, few, "reference").value - scored(given, few, "corrupted").value
    assert reference.value - corrupted.value == pytest.approx(fall, abs=8)

"""COMET: the items it scores, and the error if it is not installed."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.comet import Comet
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.recording_predictor import RecordingPredictor


@pytest.mark.skipif(find_spec("comet") is not None, reason="comet is installed here")
def test_without_its_library_the_error_names_the_command(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="pip install 'unbabel-comet"):
        Comet().count(corpus, "same")


def test_the_score_is_the_mean_over_references(corpus: Corpus) -> None:
    predictor = RecordingPredictor()
    found = Comet(predict=predictor).count(corpus, "machine")
    assert isinstance(found, MetricCounts)
    assert len(predictor.items) == 10  # five segments, two references
    assert set(predictor.items[0]) == {"src", "mt", "ref"}
    score = found.score()
    assert isinstance(score, Score)
    assert score.value == 50


def test_quality_estimation_sees_no_reference(corpus: Corpus) -> None:
    predictor = RecordingPredictor()
    Comet(with_references=False, name="cometkiwi", predict=predictor).count(corpus, "machine")
    assert len(predictor.items) == 5
    assert set(predictor.items[0]) == {"src", "mt"}


def test_context_is_of_the_same_document_and_of_the_reference(corpus: Corpus) -> None:
    predictor = RecordingPredictor()
    Comet(context=2, name="doc-comet", predict=predictor).count(corpus, "machine")
    first = corpus.documents[0]
    third = predictor.items[4]  # the third segment against the first reference
    before = [first.references[0][0], first.references[0][1]]
    assert third["mt"].split(" </s> ") == [*before, first.outputs["machine"][2]]
    assert third["src"] == "甲 </s> 乙 </s> 丙"
    assert "</s>" not in predictor.items[6]["src"]  # the second document begins


def test_without_a_source_comet_is_not_applicable(corpus: Corpus) -> None:
    without_sources = replace(corpus, documents=tuple(replace(one, sources=()) for one in corpus.documents))
    assert isinstance(Comet(predict=RecordingPredictor()).count(without_sources, "same"), Unmeasured)

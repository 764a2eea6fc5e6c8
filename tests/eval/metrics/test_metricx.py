"""MetricX: the items it scores, its scale, and the error if it is not installed."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metricx import MetricX
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.recording_predictor import RecordingPredictor


@pytest.mark.skipif(find_spec("metricx24") is not None, reason="MetricX is installed here")
def test_without_its_library_the_error_names_the_command(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="pip install 'git"):
        MetricX().count(corpus, "same")


def test_it_reads_source_output_and_reference_and_keeps_the_scale_of_the_model(corpus: Corpus) -> None:
    predictor = RecordingPredictor()
    found = MetricX(predict=predictor).count(corpus, "machine")
    assert isinstance(found, MetricCounts)
    assert set(predictor.items[0]) == {"src", "mt", "ref"}
    score = found.score()
    assert isinstance(score, Score)
    assert score.value == 0.5
    assert not MetricX().higher_is_better


def test_without_a_source_it_is_not_applicable(corpus: Corpus) -> None:
    without_sources = replace(corpus, documents=tuple(replace(one, sources=()) for one in corpus.documents))
    assert isinstance(MetricX(predict=RecordingPredictor()).count(without_sources, "same"), Unmeasured)

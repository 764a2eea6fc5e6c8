"""BLEURT: scoring without a source, and the error if it is not installed."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.bleurt import Bleurt
from eval.statistics.counts import MetricCounts
from tests.eval.metrics.recording_predictor import RecordingPredictor


@pytest.mark.skipif(find_spec("bleurt") is not None, reason="bleurt is installed here")
def test_without_its_library_the_error_names_the_command(corpus: Corpus) -> None:
    with pytest.raises(InputError, match="pip install 'git"):
        Bleurt().count(corpus, "same")


def test_it_needs_no_source(corpus: Corpus) -> None:
    without_sources = replace(corpus, documents=tuple(replace(one, sources=()) for one in corpus.documents))
    assert isinstance(Bleurt(predict=RecordingPredictor()).count(without_sources, "same"), MetricCounts)

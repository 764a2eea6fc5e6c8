"""Metrics that are models: what they are asked, and what is said where they are not installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus
from eval.metrics.metric import Metric
from eval.metrics.neural import Bleurt, Comet
from eval.statistics.counts import MetricCounts, Score, Unmeasured


class Scribe:
    """Writes down what it is asked, and finds everything half good."""

    def __init__(self) -> None:
        self.asked: list[Mapping[str, str]] = []

    def __call__(self, items: Sequence[Mapping[str, str]]) -> Sequence[float]:
        self.asked += items
        return [0.5] * len(items)


@pytest.mark.parametrize(
    ("metric", "command"),
    [
        pytest.param(Comet(), "pip install 'unbabel-comet", id="comet"),
        pytest.param(Bleurt(), "pip install 'git", id="bleurt"),
    ],
)
def test_a_metric_that_is_not_installed_names_the_command(
    metric: Metric, command: str, corpus: Corpus
) -> None:
    if find_spec(metric.name) is not None:
        pytest.skip(f"{metric.name} is installed here")
    with pytest.raises(InputError, match=command):
        metric.count(corpus, "same")


def test_each_reference_is_asked_about_and_the_mean_is_taken(corpus: Corpus) -> None:
    scribe = Scribe()
    found = Comet(predict=scribe).count(corpus, "machine")
    assert isinstance(found, MetricCounts)
    assert len(scribe.asked) == 10  # five segments, two references
    assert set(scribe.asked[0]) == {"src", "mt", "ref"}
    score = found.score()
    assert isinstance(score, Score)
    assert score.value == 50


def test_quality_estimation_sees_no_reference(corpus: Corpus) -> None:
    scribe = Scribe()
    Comet(with_references=False, name="cometkiwi", predict=scribe).count(corpus, "machine")
    assert len(scribe.asked) == 5
    assert set(scribe.asked[0]) == {"src", "mt"}


def test_context_is_of_the_same_document_and_of_the_reference(corpus: Corpus) -> None:
    scribe = Scribe()
    Comet(context=2, name="doc-comet", predict=scribe).count(corpus, "machine")
    first = corpus.documents[0]
    third = scribe.asked[4]  # the third segment against the first reference
    before = [first.references[0][0], first.references[0][1]]
    assert third["mt"].split(" </s> ") == [*before, first.outputs["machine"][2]]
    assert third["src"] == "甲 </s> 乙 </s> 丙"
    assert "</s>" not in scribe.asked[6]["src"]  # the second document begins


def test_without_a_source_comet_is_not_applicable(corpus: Corpus) -> None:
    from dataclasses import replace

    bare = replace(corpus, documents=tuple(replace(one, sources=()) for one in corpus.documents))
    assert isinstance(Comet(predict=Scribe()).count(bare, "same"), Unmeasured)
    assert isinstance(Bleurt(predict=Scribe()).count(bare, "same"), MetricCounts)

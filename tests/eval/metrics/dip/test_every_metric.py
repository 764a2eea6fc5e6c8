"""Properties of all DiP metrics: document order and number, several references, unsupported corpora."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.metrics.dip import DipCoherence, DipConnectives, DipConsistency, DipPronouns
from eval.metrics.metric import Metric
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.dip.conftest import corpus_of

PAGES = {
    "harbour": [
        "Mira lit the lantern because the harbour was dark. The lantern was old, but it burned well.",
        "A sailor saw the lantern and waved to her. She waved back.",
        "Then he rowed to the harbour, and she tied his boat to the wall.",
        "When the boat was fast, he thanked her for the lantern.",
    ],
    "letter": [
        "Oskar found a letter under the door. He read it, but he did not understand it.",
        "Because the letter was long, he asked his sister. She knew the writer of the letter.",
        "If the writer was alive, she said, then the letter was a joke.",
        "He laughed, and she put the letter into her pocket.",
    ],
    "garden": [
        "The garden was wet, so they stayed in the kitchen. The kitchen smelled of bread.",
        "While the bread was cooling, the rain stopped. The children ran into the garden.",
        "They came back when the bell rang, and the bread was gone.",
        "Although nobody spoke, they all looked at the old dog. It slept.",
    ],
}
OUTPUTS = {
    "harbour": [
        "Mira lit the lantern, the harbour was dark. The lamp was old, it burned well.",
        "A sailor saw the lamp and waved to him. He waved back.",
        "He rowed to the port, she tied his boat to the wall.",
        "The boat was fast, he thanked him for the lantern.",
    ],
    "letter": [
        "Oskar found a letter under the door. He read it, he did not understand it.",
        "The letter was long, he asked her sister. She knew the writer of the note.",
        "If the writer was alive, he said, the note was a joke.",
        "He laughed, he put the letter into his pocket.",
    ],
    "garden": [
        "The garden was wet, they stayed in the kitchen. The room smelled of bread.",
        "The bread was cooling, the rain stopped. The children ran into the yard.",
        "He came back, the bell rang, the loaf was gone.",
        "Nobody spoke, they all looked at the old dog. She slept.",
    ],
}


def library(*names: str) -> Corpus:
    documents = tuple(
        Document(
            name,
            {"worse": tuple(OUTPUTS[name]), "same": tuple(PAGES[name])},
            (tuple(PAGES[name]),),
            tuple(f"源{place}" for place in range(len(PAGES[name]))),
        )
        for name in names
    )
    return Corpus(documents, "zh", "en")


ALL = ("harbour", "letter", "garden")
Every = pytest.mark.parametrize("make", [DipConsistency, DipConnectives, DipPronouns, DipCoherence])


def score_of(metric: Metric, corpus: Corpus, system: str) -> Score:
    counted = metric.count(corpus, system)
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


@Every
def test_the_reference_itself_scores_best(make: Callable[..., Metric], english: Annotator) -> None:
    metric = make(annotator=english)
    best, worse = (score_of(metric, library(*ALL), system).value for system in ("same", "worse"))
    if metric.higher_is_better:
        assert best == 100
        assert worse < 100
    else:
        assert best == 0
        assert worse > 0


@Every
def test_the_order_of_documents_does_not_matter(make: Callable[..., Metric], english: Annotator) -> None:
    metric = make(annotator=english)
    there = score_of(metric, library(*ALL), "worse")
    back = score_of(metric, library(*reversed(ALL)), "worse")
    assert there.value == pytest.approx(back.value)
    assert there.signature == back.signature


@Every
def test_a_corpus_twice_has_the_same_shares_and_means(make: Callable[..., Metric], english: Annotator) -> None:
    metric = make(annotator=english)
    corpus = library(*ALL)
    again = tuple(replace(one, id=f"{one.id} again") for one in corpus.documents)
    once = score_of(metric, corpus, "worse")
    twice = score_of(metric, replace(corpus, documents=corpus.documents + again), "worse")
    if metric.higher_is_better:
        assert twice.value == pytest.approx(once.value)
    else:
        assert twice.value == pytest.approx(2 * once.value)  # the paper's score is a sum
    for name, part in once.parts.items():
        assert twice.parts[name] == pytest.approx(part)


@Every
def test_several_references_are_added_up_and_missing_ones_are_not_counted(
    make: Callable[..., Metric], english: Annotator
) -> None:
    metric = make(annotator=english)
    corpus = library(*ALL)
    once = score_of(metric, corpus, "worse")
    nothing: tuple[str | None, ...] = (None,) * 4
    for more in (corpus.documents[0].references[0], nothing):
        first = replace(corpus.documents[0], references=(corpus.documents[0].references[0], more))
        many = score_of(metric, replace(corpus, documents=(first, *corpus.documents[1:])), "worse")
        if more is nothing:
            assert many.parts == pytest.approx(once.parts)
        else:
            assert many.value != pytest.approx(once.value)  # the items of the first count twice


@Every
def test_sums_fold_as_rows_do(make: Callable[..., Metric], english: Annotator) -> None:
    counted = make(annotator=english).count(library(*ALL), "worse")
    assert isinstance(counted, MetricCounts)
    weights = np.array([np.ones(len(counted.rows)), np.zeros(len(counted.rows))])
    folded = counted.fold(weights @ counted.rows)
    score = counted.score()
    assert isinstance(score, Score)
    assert folded[0] == pytest.approx(score.value)
    assert np.isnan(folded[1])


@Every
def test_every_number_names_its_annotator(make: Callable[..., Metric], english: Annotator) -> None:
    metric = make(annotator=english)
    signature = score_of(metric, library(*ALL), "worse").signature
    assert signature.startswith(f"{metric.name}|")
    assert f"|annotator:{english.name}|v:" in signature


@Every
def test_an_unsupported_language_is_not_measured(make: Callable[..., Metric]) -> None:
    found = make().count(corpus_of(["Er ging."], ["Sie ging."], language="de"), "mine")
    assert isinstance(found, Unmeasured)
    assert "German" in found.why


@Every
def test_without_a_reference_nothing_is_measured(make: Callable[..., Metric]) -> None:
    corpus = Corpus((Document("one", {"mine": ("He left.",)}, (), ("源",)),), "zh", "en")
    found = make().count(corpus, "mine")
    assert isinstance(found, Unmeasured)
    assert "needs a reference" in found.why


@Every
def test_an_unknown_system_is_refused_with_the_known_ones(make: Callable[..., Metric], english: Annotator) -> None:
    with pytest.raises(InputError, match=r"'other'.*worse, same"):
        make(annotator=english).count(library(*ALL), "other")


def test_each_metric_is_moved_by_its_own_phenomenon_only(english: Annotator) -> None:
    """Change a pronoun, a connective and a word of a chain, one at a time."""
    reference = PAGES["harbour"]
    changes = {
        "dip-pronouns": [text.replace("to her", "to him") for text in reference],
        "dip-connectives": [text.replace("old, but it", "old; it") for text in reference],
        "dip-consistency": [text.replace("The lantern was", "The lamp was") for text in reference],
    }
    for changed, outputs in changes.items():
        for metric in (DipPronouns(english), DipConnectives(english), DipConsistency(english)):
            value = score_of(metric, corpus_of(outputs, reference), "mine").value
            assert (value < 100) == (metric.name == changed), (changed, metric.name)

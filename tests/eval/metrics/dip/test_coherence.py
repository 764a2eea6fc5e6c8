"""Coherence scorers: training on pairs, saved files and metadata."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import Annotator
from eval.metrics.dip import DipCoherence, load_coherence_scorer, train_coherence_scorer
from eval.metrics.dip.coherence import NegativeExamples
from eval.metrics.dip.ranker import RankedPairs, fit_ranker, load_ranker, ranker_accuracy, train_ranker
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.dip.test_every_metric import ALL, library


@given(st.integers(min_value=0, max_value=1000))
def test_a_scorer_finds_the_feature_that_separates_better_from_worse(seed: int) -> None:
    chance = np.random.default_rng(seed)
    worse = chance.normal(size=(40, 3))
    better = worse + np.array([1.0, 0.0, 0.0]) + chance.normal(scale=0.1, size=(40, 3))
    ranker = fit_ranker(better, worse, kind="test", features="abc")
    assert ranker_accuracy(ranker, better, worse) == 1
    assert np.argmax(np.abs(ranker.weights)) == 0


def test_equal_scores_count_half() -> None:
    same = np.ones((4, 2))
    assert ranker_accuracy(fit_ranker(same, same, kind="test", features="ab"), same, same) == 0.5


def test_held_out_accuracy_is_of_groups_that_were_not_trained_on() -> None:
    # Each group has its own feature: nothing learned from the others helps, so every prediction is a tie.
    better, worse = np.eye(4), np.zeros((4, 4))
    ranker = train_ranker(RankedPairs(better, worse, tuple("abcd")), kind="test", features="wxyz", seed=1, folds=4)
    assert ranker.facts["held_out_accuracy"] == 0.5
    assert ranker_accuracy(ranker, better, worse) == 1


def test_without_a_pair_there_is_nothing_to_train_on() -> None:
    with pytest.raises(InputError, match="at least one pair"):
        train_ranker(RankedPairs(np.zeros((0, 2)), np.zeros((0, 2)), ()), kind="test", features="ab", seed=1)
    with pytest.raises(InputError, match="at least one pair"):
        fit_ranker(np.zeros((0, 2)), np.zeros((0, 2)), kind="test", features="ab")


def test_a_saved_scorer_is_loaded_unchanged(english: Annotator, tmp_path: Path) -> None:
    scorer = train_coherence_scorer(library(*ALL), against="mt", systems=["worse"], annotator=english)
    scorer.save(tmp_path / "scorer.json")
    again = load_coherence_scorer(tmp_path / "scorer.json")
    assert again.fingerprint == scorer.fingerprint
    ours, theirs = (DipCoherence(one, annotator=english).count(library(*ALL), "worse") for one in (scorer, again))
    assert isinstance(ours, MetricCounts)
    assert isinstance(theirs, MetricCounts)
    assert ours.score() == theirs.score()
    assert f"|scorer:{scorer.fingerprint}|" in ours.signature


def test_training_is_the_same_for_the_same_seed(english: Annotator) -> None:
    prints = [
        train_coherence_scorer(library(*ALL), against="shuffled", seed=seed, annotator=english).fingerprint
        for seed in (1, 1, 2)
    ]
    assert prints[0] == prints[1] != prints[2]


def test_a_scorer_of_another_kind_or_a_broken_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scorer.json"
    fit_ranker(np.ones((2, 1)), np.zeros((2, 1)), kind="length", features=["length"]).save(path)
    with pytest.raises(InputError, match="scorer of length"):
        load_coherence_scorer(path)
    assert load_ranker(path, kind="length", features=["length"]).features == ("length",)
    path.write_text('{"kind": "coherence"}', encoding="utf-8")
    with pytest.raises(InputError, match="is not a coherence scorer"):
        load_coherence_scorer(path)
    with pytest.raises(InputError, match="can't be read"):
        load_coherence_scorer(tmp_path / "nothing.json")


def test_one_document_alone_needs_a_trained_scorer(english: Annotator) -> None:
    found = DipCoherence(annotator=english).count(library("harbour"), "worse")
    assert isinstance(found, Unmeasured)
    assert "trained" in found.why
    scorer = train_coherence_scorer(library("letter", "garden"), systems=["worse"], annotator=english)
    counted = DipCoherence(scorer, annotator=english).count(library("harbour"), "worse")
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    assert score.value == score.parts["mean"]


def two_references(corpus: Corpus) -> Corpus:
    """Add a second reference to each document: the first in capitals."""
    documents = (
        replace(one, references=(*one.references, tuple(str(text).upper() for text in one.references[0])))
        for one in corpus.documents
    )
    return replace(corpus, documents=tuple(documents))


@pytest.mark.parametrize("against", ["mt", "shuffled"])
def test_all_references_of_a_document_are_held_out_together(english: Annotator, against: NegativeExamples) -> None:
    corpus = two_references(library(*ALL))
    scorer = train_coherence_scorer(corpus, against=against, systems=["worse"], annotator=english)
    assert scorer.facts["documents"] == len(ALL)
    doubled = train_coherence_scorer(library(*ALL), against=against, systems=["worse"], annotator=english)
    assert scorer.facts["pairs"] == 2 * int(str(doubled.facts["pairs"]))


def test_a_document_is_not_judged_by_its_other_reference(english: Annotator) -> None:
    found = DipCoherence(annotator=english).count(two_references(library("harbour")), "worse")
    assert isinstance(found, Unmeasured)
    assert "no other document has the 3 sentences" in found.why


def test_references_too_short_to_be_shuffled_are_refused(english: Annotator) -> None:
    short = Corpus((Document("one", {"s": ("He left.",)}, (("He went.",),)),), "zh", "en")
    with pytest.raises(InputError, match="a reference of at least 3 sentences"):
        train_coherence_scorer(short, against="shuffled", annotator=english)

"""Coreference as in the reference: hand-computed values and what moves them."""

from __future__ import annotations

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators import annotator_for
from eval.metrics.coreference import CoreferenceMatch
from eval.statistics.counts import MetricCounts, Score, Unmeasured

REFERENCE = ("Anna opened the letter.", "She read it.", "Boris came in.", "He greeted her.")


def _score(*output: str) -> Score:
    corpus = Corpus((Document("d", {"s": output}, (REFERENCE,)),), "zh", "en")
    counted = CoreferenceMatch(annotator=annotator_for("en", prefer="textblob")).count(corpus, "s")
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_the_same_people_in_other_words_are_the_same() -> None:
    assert _score(*REFERENCE).value == 1
    assert _score("Anna broke the seal.", "She studied it.", "Boris entered.", "He bowed to her.").value == 1


def test_a_wrong_pronoun_by_hand() -> None:
    # Reference: {Anna, She, her}, {Boris, He}; output: {Anna, He}, {Boris, He}, {her}. Recall (2/3 + 2) / 5, precision
    # (1/2 + 2 + 1) / 5.
    score = _score("Anna opened the letter.", "He read it.", "Boris came in.", "He greeted her.")
    recall, precision = 8 / 15, 7 / 10
    assert score.parts["B³"] == pytest.approx(2 * recall * precision / (recall + precision))
    assert 0 < score.value < 1


def test_a_lost_pronoun_and_another_name_cost() -> None:
    lost = _score("Anna opened the letter.", "It was read.", "Boris came in.", "He greeted her.").value
    renamed = _score("Anna opened the letter.", "She read it.", "Igor came in.", "He greeted her.").value
    assert lost < 1
    assert renamed < 1


def test_without_references_it_is_not_measured() -> None:
    corpus = Corpus((Document("d", {"s": REFERENCE}),), "zh", "en")
    assert CoreferenceMatch().count(corpus, "s") == Unmeasured("there is no reference")


@pytest.mark.parametrize("text", ["", "Rain."])
def test_a_text_without_mentions_scores_nothing(text: str) -> None:
    assert _score(text, text, text, text).value == 0

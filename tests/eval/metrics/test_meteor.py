"""METEOR: NLTK's numbers, and the signature without WordNet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.metrics.meteor import Meteor, _has_wordnet
from eval.statistics.counts import MetricCounts, Score, Unmeasured


def count(corpus: Corpus, system: str) -> MetricCounts:
    found = Meteor().count(corpus, system)
    assert isinstance(found, MetricCounts)
    return found


def test_a_hand_worked_segment() -> None:
    corpus = Corpus((Document("d", {"s": ("the cat sat",)}, (("the cat lay",),)),), "fr", "en")
    # By hand: 2 matches in one chunk of 3 words on either side; P = R = 2/3, F = 2/3, penalty .5 * (1/2)**3.
    expected = 100 * (2 / 3) * (1 - 0.5 * (1 / 2) ** 3)
    assert count(corpus, "s").row_scores() == pytest.approx([expected])


def test_stems_match_in_languages_with_a_stemmer() -> None:
    document = Document("d", {"s": ("two boats sailing",)}, (("two boat sails",),))
    english, other = (count(Corpus((document,), "fr", code), "s") for code in ("en", "sv"))
    assert english.row_scores()[0] > other.row_scores()[0]
    assert "stem:porter" in english.signature
    assert "stem:no" in other.signature


def test_the_best_reference_counts_and_an_empty_output_scores_0(corpus: Corpus) -> None:
    each = count(corpus, "same").row_scores()
    assert (each > 99).all()
    empty = Corpus((Document("d", {"s": ("",)}, (("A cat.",),)),), "fr", "en")
    assert count(empty, "s").row_scores() == [0.0]


def test_the_signature_says_whether_synonyms_count(corpus: Corpus) -> None:
    expected = "yes" if _has_wordnet() else "no"
    assert f"|synonyms:{expected}|" in count(corpus, "same").signature


def test_neither_the_order_of_documents_nor_doubling_changes_the_mean(corpus: Corpus) -> None:
    again = tuple(replace(one, id=f"{one.id} again") for one in corpus.documents)
    changed = replace(corpus, documents=(*again[::-1], *corpus.documents))
    before, after = (count(one, "machine").score() for one in (corpus, changed))
    assert isinstance(before, Score)
    assert isinstance(after, Score)
    assert after.value == pytest.approx(before.value)


def test_a_language_without_spaces_is_unmeasured() -> None:
    corpus = Corpus((Document("d", {"s": ("雾",)}, (("雾",),)),), "en", "zh")
    assert isinstance(Meteor().count(corpus, "s"), Unmeasured)

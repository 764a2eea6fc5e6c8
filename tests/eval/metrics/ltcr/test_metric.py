"""LTCR: hand-computed values, and changes that must and must not move it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.ltcr.chains import AnnotatedChains, LexicalChain
from eval.metrics.ltcr.metric import Ltcr
from eval.statistics.counts import MetricCounts, Score, Unmeasured
from tests.eval.metrics.ltcr.conftest import OUTPUT, SOURCES, corpus_of


def scored(metric: Ltcr, corpus: Corpus, system: str = "s") -> Score:
    counted = metric.count(corpus, system)
    assert isinstance(counted, MetricCounts)
    score = counted.score()
    assert isinstance(score, Score)
    return score


def test_ltcr_is_the_share_of_pairs_translated_alike(ltcr: Ltcr, corpus: Corpus) -> None:
    score = scored(ltcr, corpus)
    # By hand: 诊所 clinic, clinics, surgery 1 of 3; 睡 sleep, sleeps, dozes 1 of 3; 法官 1 of 1; 三 1 of 1.
    assert score.value == pytest.approx(100 * 4 / 8)
    assert score.parts["noun"] == pytest.approx(100 * 2 / 4)
    assert score.parts["verb"] == pytest.approx(100 * 1 / 3)
    assert score.parts["other"] == 100
    assert score.parts["adjective/adverb"] is None
    # Distance 1: 诊所 0-1 alike, 睡 1-2 alike, 睡 2-3 not, 三 4-5 alike.
    assert score.parts["distance 1"] == pytest.approx(100 * 3 / 4)
    assert score.parts["distance >=5"] == 0


def test_a_row_is_a_document(ltcr: Ltcr) -> None:
    corpus = corpus_of((SOURCES, OUTPUT), (["法官 法官"], ["judge judge"]), (["红"], ["red"]))
    counted = ltcr.count(corpus, "s")
    assert isinstance(counted, MetricCounts)
    assert counted.unit == "document"
    np.testing.assert_allclose(counted.document_scores(), [50, 100, np.nan])


def test_an_occurrence_without_translation_equals_no_other(ltcr: Ltcr) -> None:
    corpus = corpus_of((["法官", "法官", "法官"], ["the judge", "", "of the"]))
    assert scored(ltcr, corpus).value == 0


def test_one_rendering_changed_lowers_it_and_only_its_part(ltcr: Ltcr) -> None:
    consistent = corpus_of((["法官", "睡", "法官", "睡"], ["a judge", "sleeps", "the Judge", "sleep"]))
    changed = consistent.with_system("t", [["a judge", "sleeps", "the justice", "sleep"]])
    assert scored(ltcr, consistent).value == 100
    assert scored(ltcr, changed, "t").value == 50
    assert scored(ltcr, changed, "t").parts["noun"] == 0
    assert scored(ltcr, changed, "t").parts["verb"] == 100


def test_the_order_of_documents_does_not_matter(ltcr: Ltcr) -> None:
    one, other = (SOURCES, OUTPUT), (["法官", "法官"], ["the judge", "a justice"])
    assert scored(ltcr, corpus_of(one, other)).value == scored(ltcr, corpus_of(other, one)).value


def test_a_corpus_twice_scores_as_once(ltcr: Ltcr) -> None:
    assert scored(ltcr, corpus_of((SOURCES, OUTPUT), (SOURCES, OUTPUT))).value == pytest.approx(50)


def test_the_signature_has_everything_that_changes_the_number(ltcr: Ltcr, corpus: Corpus) -> None:
    signature = scored(ltcr, corpus).signature
    recipe = "renderings:links/content-words/association-0.5"
    for field in ("ltcr|chains:all", recipe, "aligner:looked-up", "stems:snowball-english", "annotator:spaced", "|v:"):
        assert field in signature


JUDGE = LexicalChain("法官", ((0, 0), (1, 1), (2, 0)), translation="judges")
ANNOTATED = {"d0": AnnotatedChains((("法官",), ("红", "法官"), ("法官",)), (JUDGE,))}


def test_only_annotated_chains_are_counted_and_the_aligners_error_is_reported(ltcr: Ltcr) -> None:
    # 红法官 has no space: the words are those of the annotation.
    corpus = corpus_of((["法官", "红法官", "法官"], ["a judge", "red justice, a judge", "judges"]))
    metric = replace(ltcr, annotated=ANNOTATED)
    assert scored(replace(metric, read="annotation"), corpus).value == 100
    score = scored(metric, corpus)
    # "Justice" is linked in the second sentence; its association with 法官 equals that of "judge".
    assert score.value == pytest.approx(100 / 3)
    assert score.parts["aligner's error"] == pytest.approx(200 / 3)
    assert metric.name == "ltcr-anno"


def test_another_translation_of_an_annotated_word_is_not_an_aligner_error(ltcr: Ltcr) -> None:
    corpus = corpus_of((["法官", "红法官", "法官"], ["a judge", "red justice", "judges"]))
    score = scored(replace(ltcr, annotated=ANNOTATED), corpus)
    assert score.value == pytest.approx(100 / 3)
    assert score.parts["aligner's error"] == 0
    assert scored(replace(ltcr, annotated=ANNOTATED, read="annotation"), corpus).value == pytest.approx(100 / 3)


def test_chains_of_another_source_are_refused(ltcr: Ltcr) -> None:
    with pytest.raises(InputError, match="cover 3 sentences, and its source has 1"):
        replace(ltcr, annotated=ANNOTATED).count(corpus_of((["法官"], ["judge"])), "s")
    with pytest.raises(InputError, match="'d0', sentence 2: the word '法官' of a chain is not at its position"):
        replace(ltcr, annotated=ANNOTATED).count(corpus_of((["法官", "红睡", "法官"], ["", "", ""])), "s")


def test_an_unsupported_corpus_is_unmeasured_with_the_reason(ltcr: Ltcr) -> None:
    no_source = Corpus((Document("d", {"s": ("a",)}),), "zh", "en")
    unnamed = replace(corpus_of((["法官"], ["judge"])), source_language="und")
    welsh = replace(corpus_of((["法官"], ["judge"])), source_language="cy")
    for corpus, why in (
        (no_source, "needs the source"),
        (unnamed, "an unknown language"),
        (welsh, "the source is in cy"),
    ):
        result = ltcr.count(corpus, "s")
        assert isinstance(result, Unmeasured)
        assert why in result.why
        assert list(ltcr.marks(corpus, "s")) == []
    result = replace(ltcr, annotated={}).count(corpus_of((["法官"], ["judge"])), "s")
    assert isinstance(result, Unmeasured)
    nothing = ltcr.count(corpus_of((["法官"], ["judge"])), "s")
    assert isinstance(nothing, MetricCounts)
    assert isinstance(nothing.score(), Unmeasured)


def test_an_unknown_system_is_refused_by_name(ltcr: Ltcr, corpus: Corpus) -> None:
    with pytest.raises(InputError, match=r"no system called 'x'\. There are: s"):
        ltcr.count(corpus, "x")

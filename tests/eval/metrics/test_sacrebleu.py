"""BLEU, chrF, chrF++ and TER: our folds of sacrebleu's statistics are sacrebleu's scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from ape.errors import InputError
from eval.corpus.corpus import Corpus, Document
from eval.metrics.metric import Metric
from eval.metrics.sacrebleu import Bleu, Chrf, Ter, is_tokenised
from eval.statistics.counts import MetricCounts, Score, Unmeasured

WORDS = "the a cat sat on mat , dog ran . ran! It's red-hot 3.5 ships".split()
LINES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
SEGMENTS = st.lists(st.tuples(LINES, LINES, st.none() | LINES), min_size=1, max_size=6)
PAIRS: list[tuple[Metric, Any]] = [
    (Bleu(), BLEU(force=True)),
    (Bleu(effective_order=True, lowercase=True), BLEU(force=True, effective_order=True, lowercase=True)),
    (Chrf(), CHRF()),
    (Chrf(word_order=2), CHRF(word_order=2)),
    (Ter(), TER()),
]


def counted(metric: Metric, corpus: Corpus, system: str = "s") -> MetricCounts:
    found = metric.count(corpus, system)
    assert isinstance(found, MetricCounts)
    return found


def scored(metric: Metric, corpus: Corpus, system: str) -> Score:
    found = counted(metric, corpus, system).score()
    assert isinstance(found, Score)
    return found


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@settings(max_examples=40, deadline=None)
@given(segments=SEGMENTS)
def test_the_fold_of_summed_rows_is_the_corpus_score_of_sacrebleu(
    ours: Metric, theirs: Any, segments: Sequence[tuple[str, str, str | None]]
) -> None:
    outputs, first, second = (tuple(texts) for texts in zip(*segments, strict=True))
    found = counted(ours, Corpus((Document("d", {"s": outputs}, (first, second)),), "fr", "en"))
    expected = theirs.corpus_score(list(outputs), [list(first), list(second)]).score
    value = float(found.fold(found.rows.sum(axis=0)))
    if np.isnan(value):  # no word on either side, for which sacrebleu gives 0
        assert expected == 0
    else:
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_batched_folds_equal_single_ones(ours: Metric, theirs: Any, corpus: Corpus) -> None:
    found = counted(ours, corpus, "machine")
    weights = np.array([[1, 2, 0, 1, 1], [0, 0, 3, 1, 1], [1, 1, 1, 1, 1.0]])
    together = found.fold((weights @ found.rows).reshape(3, 1, -1))
    assert together.shape == (3, 1)
    for row, value in zip(weights, together[:, 0], strict=True):
        assert value == pytest.approx(float(found.fold(row @ found.rows)))
    del theirs


def test_a_row_by_itself_has_the_sentence_score(corpus: Corpus) -> None:
    document = corpus.documents[0]
    each = counted(Bleu(effective_order=True), corpus, "machine").row_scores()
    bleu = BLEU(effective_order=True)
    for place, output in enumerate(document.outputs["machine"]):
        expected = bleu.sentence_score(output, list(document.references_of(place))).score
        assert each[place] == pytest.approx(expected)


@pytest.mark.parametrize(("metric", "best"), [(Bleu(), 100), (Chrf(), 100), (Chrf(word_order=2), 100), (Ter(), 0)])
def test_identical_output_has_the_best_score(metric: Metric, best: float, corpus: Corpus) -> None:
    assert scored(metric, corpus, "same").value == pytest.approx(best)
    worse = scored(metric, corpus, "machine").value
    assert worse < best if metric.higher_is_better else worse > best


@pytest.mark.parametrize("metric", [Bleu(), Chrf(), Chrf(word_order=2), Ter()])
def test_neither_the_order_of_documents_nor_doubling_changes_a_score(metric: Metric, corpus: Corpus) -> None:
    expected = scored(metric, corpus, "machine").value
    swapped = replace(corpus, documents=corpus.documents[::-1])
    again = tuple(replace(one, id=f"{one.id} again") for one in corpus.documents)
    doubled = replace(corpus, documents=(*corpus.documents, *again))
    assert scored(metric, swapped, "machine").value == pytest.approx(expected)
    assert scored(metric, doubled, "machine").value == pytest.approx(expected)


def test_a_segment_without_references_is_left_out() -> None:
    corpus = Corpus((Document("d", {"s": ("A cat sat.", "What is that?")}, (("A cat sat.", None),)),))
    assert len(counted(Bleu(), corpus).rows) == 1


def test_a_signature_has_the_recipe_and_ends_with_our_version(corpus: Corpus) -> None:
    signature = counted(Bleu(), corpus, "same").signature
    assert signature.startswith("bleu|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|sacrebleu:")
    assert signature.rpartition("|")[2].startswith("v:")


def test_without_references_there_is_no_score() -> None:
    corpus = Corpus((Document("d", {"s": ("A cat.",)}, (), ("Une chatte.",)),), "fr", "en")
    assert Bleu().count(corpus, "s") == Unmeasured("there is no reference")


def test_chinese_has_its_own_tokeniser_and_no_chrf_plus_plus() -> None:
    texts = ("他在河边等雾散去。", "没有人说话。")
    corpus = Corpus((Document("d", {"s": texts}, (texts,)),), "en", "zh")
    assert "tok:zh" in counted(Bleu(), corpus).signature
    assert "asian:yes" in counted(Ter(), corpus).signature
    refused = Chrf(word_order=2).count(corpus, "s")
    assert isinstance(refused, Unmeasured)
    assert "Chinese" in refused.why


def test_a_language_without_spaces_and_tokeniser_has_no_word_metrics() -> None:
    corpus = Corpus((Document("d", {"s": ("ก",)}, (("ก",),)),), "en", "th")
    for metric in (Bleu(), Ter()):
        assert isinstance(metric.count(corpus, "s"), Unmeasured)


def test_document_bleu_is_bleu_of_joined_documents() -> None:
    outputs, references = ("the cat sat", "on the mat ."), ("the cat sat on", "the mat .")
    one = Corpus(
        (Document("a", {"s": outputs}, (references,)), Document("b", {"s": references}, (references,))), "fr", "en"
    )
    expected = BLEU(force=True).corpus_score(
        [" ".join(outputs), " ".join(references)], [[" ".join(references), " ".join(references)]]
    )
    found = counted(Bleu(whole_documents=True, name="d-bleu"), one)
    assert (found.unit, len(found.rows)) == ("document", 2)
    assert scored(Bleu(whole_documents=True), one, "s").value == pytest.approx(expected.score) == 100
    assert scored(Bleu(), one, "s").value < 100  # n-grams end at segments


def test_document_bleu_leaves_out_segments_and_documents_without_a_reference() -> None:
    references = ("the cat sat on the mat", None)
    kept = Document("a", {"s": ("the cat sat on the mat", "dog")}, (references,))
    missing = Document("b", {"s": ("dog", "ran")}, ((None, None),))
    assert scored(Bleu(whole_documents=True), Corpus((missing, kept), "fr", "en"), "s").value == pytest.approx(100)
    assert counted(Bleu(whole_documents=True), Corpus((missing, kept), "fr", "en")).documents.tolist() == [1]


def test_a_tokeniser_of_sacrebleu_is_chosen_by_name_and_others_are_refused(corpus: Corpus) -> None:
    assert "tok:char" in counted(Bleu(tokenize="char"), corpus, "machine").signature
    with pytest.raises(InputError, match=r"no tokeniser 'spacy'.*intl"):
        Bleu(tokenize="spacy").count(corpus, "machine")


def test_a_hundred_periods_after_a_space_are_tokenised_text() -> None:
    assert is_tokenised(["It ran ."] * 100)
    assert not is_tokenised(["It ran ."] * 99 + ["It ran."] * 500)

"""Accuracy of gender against a reference, by hand."""

from __future__ import annotations

import pytest

from eval.corpus.corpus import Corpus, Document
from eval.metrics.gender_accuracy import GenderAccuracy
from eval.statistics.counts import MetricCounts, Score, Unmeasured

pytest.importorskip("pypinyin", reason="reads Chinese names aloud")

ROWS = (
    # source, reference, output
    ("方召先生推开门，他看了看雨。", "Mr. Fang Zhao opened the door, and he looked out.", "Fang Zhao and his door."),
    ("方召说他不饿。", "Fang Zhao said he was not hungry.", "Fang Zhao said she was not hungry."),
    ("方召笑了，他很高兴。", "Fang Zhao laughed; he was glad.", "Fang Zhao laughed and was glad."),
    ("方召睡了，他很累。", "Fang Zhao slept; he was tired.", "Fang Zhao slept; he was tired."),
    ("方召走了，他没回头。", "Fang Zhao left; he did not look back at her.", "Fang Zhao left her."),
    ("雨停了。", "He saw that the rain had stopped.", "She saw that the rain had stopped."),
)  # fmt: skip


def corpus(*, with_references: bool = True) -> Corpus:
    sources, references, outputs = zip(*ROWS, strict=True)
    document = Document(
        id="d", sources=sources, references=(references,) if with_references else (), outputs={"mt": outputs}
    )
    return Corpus(documents=(document,), source_language="zh", target_language="en")


def test_pronouns_of_the_other_gender_are_wrong_and_ambiguous_segments_are_left_out() -> None:
    counts = GenderAccuracy().count(corpus(), "mt")
    assert isinstance(counts, MetricCounts)
    # By hand: right, wrong, no pronoun, right, two genders in the reference, nobody named.
    assert counts.rows.tolist() == [[1, 1], [0, 1], [0, 0], [1, 1], [0, 0], [0, 0]]
    score = counts.score()
    assert isinstance(score, Score)
    assert score.value == pytest.approx(2 / 3)
    assert score.signature.startswith("gender-accuracy|ledger:source+reference|languages:zh-en|v:")


def test_without_a_reference_there_is_no_number() -> None:
    assert GenderAccuracy().count(corpus(with_references=False), "mt") == Unmeasured("there is no reference")

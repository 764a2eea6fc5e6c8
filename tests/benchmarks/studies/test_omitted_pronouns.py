"""Scores of chapters in the order of their omitted pronouns."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks.studies.omitted_pronouns import (
    COLUMNS,
    OmissionTable,
    measure_omission,
    rank_correlation,
    read_marked_chapters,
    table_lines,
)
from eval.corpus.corpus import Corpus, Document
from eval.metrics.sacrebleu import Chrf
from eval.metrics.zero_pronouns import ZeroPronouns


def _chapter(name: str, source: str, output: str) -> Document:
    return Document(name, {"s": (output,)}, (("He saw her.",),), (source,))


def test_chapters_are_in_the_order_of_omitted_pronouns() -> None:
    corpus = Corpus(
        (_chapter("half", "<他>_S看见她。", "Saw her."), _chapter("none", "他看见她。", "He saw her.")), "zh", "en"
    )
    table = measure_omission(
        corpus, {"chrf": (Chrf(), [("KP", "")]), "zero-pronouns": (ZeroPronouns(), [("recovered", "")])}
    )
    assert table.chapters == ("none", "half")
    assert table.shares == (0.0, 0.5)
    assert table.scores["s"]["KP"][0] == pytest.approx(100)
    assert math.isnan(table.scores["s"]["recovered"][0])
    assert table.scores["s"]["recovered"][1] == 0


def test_rank_correlation_by_hand() -> None:
    assert rank_correlation([1, 2, 3], [5, 6, 7]) == 1
    assert rank_correlation([1, 2, 3], [7, 6, 5]) == -1
    # Of three pairs two agree and one is tied on one side: 2 / √(3 · 2).
    assert rank_correlation([1, 2, 3], [5, 5, 7]) == pytest.approx(2 / math.sqrt(6))
    assert math.isnan(rank_correlation([1, 1], [1, 2]))


def test_the_table_has_a_row_for_each_chapter_and_column() -> None:
    scores = {"s": dict.fromkeys(COLUMNS, (0.5, math.nan))}
    lines = list(table_lines(OmissionTable(("a", "b"), (0.1, 0.4), scores, {"blonde": "blonde|v:1"})))
    assert lines[1:6] == [
        "BlonDe",
        "chapter omitted          s",
        "      a   0.100      0.500",
        "      b   0.400        n/a",
        "           mean      0.500",
    ]
    assert lines[-1] == "blonde|v:1"


def test_nine_published_chapters_have_marks(shared_data: Path) -> None:
    corpus = read_marked_chapters(shared_data)
    assert len(corpus.documents) == 9
    assert all("<" in "".join(one.sources) for one in corpus.documents)
    assert corpus.without_pronoun_marks().documents[0].sources[0] == "狂风吹过峡谷，在草原上掀起了阵阵波澜。"

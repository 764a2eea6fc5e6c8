"""The LTCR suite on two articles in a toy language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ape.errors import InputError
from eval.suites.ltcr import LtcrSuite, _with_means
from eval.suites.outputs import REFERENCES_LABEL
from eval.suites.suite import SuiteRow
from tests.eval.metrics.ltcr.conftest import DictionaryAligner, SpaceAnnotator

SUITE = LtcrSuite(aligner=DictionaryAligner(), annotator=SpaceAnnotator())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {
            "id": "a",
            "source": ["诊所 红", "诊所 睡"],
            "reference": ["the clinic is red today", "the clinic sleeps all day"],
            "source_tokens": [["诊所", "红"], ["诊所", "睡"]],
            "chains": [{"word": "诊所", "translation": "clinic", "positions": [[0, 0], [1, 0]]}],
        }
    ]
    path = tmp_path / "ltcr.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_word_translated_in_two_ways_costs_consistency(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "ours.txt"
    path.write_text("the clinic is red today\nthe surgery sleeps all day\n", encoding="utf-8")
    (table,) = SUITE.run(data, {"ours": path}).tables
    ours, references = table.rows[:2]
    assert (ours.cells["L-Anno"], references.cells["L-Anno"]) == (0, 100)
    assert references.name == REFERENCES_LABEL
    assert references.cells["BLEU"] == pytest.approx(100)


def test_published_rows_equal_the_papers(data: Path) -> None:
    (table,) = SUITE.run(data, {}).tables
    rows = {row.name: row.cells for row in table.rows if row.published}
    assert rows["CVAE-Transformer"] == {"BLEU": 18.33, "L-All, paper's pairs": 67.20, "L-Anno": 72.18}  # Table 6


def test_our_pairs_and_the_papers_are_never_in_one_column(data: Path) -> None:
    (table,) = SUITE.run(data, {}).tables
    ours, papers = (
        {name for row in table.rows if row.published is kind for name in row.cells} for kind in (False, True)
    )
    assert ours & papers == {"BLEU", "L-Anno"}
    assert "98,691" in table.note


def test_scores_are_means_over_aligner_seeds_with_their_spread() -> None:
    runs = [SuiteRow("a", {"L-Anno": value, "L-All": 50.0}) for value in (70.0, 71.0, 75.0)]
    row = _with_means(SuiteRow("a", {"BLEU": 1.0}), runs)
    assert row.cells == {"BLEU": 1.0, "L-Anno": 72.0, "L-All": 50.0}
    assert row.bounds == {"L-Anno": (70.0, 75.0)}


def test_outputs_of_a_different_length_are_refused(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "ours.txt"
    path.write_text("one\n", encoding="utf-8")
    with pytest.raises(InputError, match="has 1 lines of text, and the suite has 2 segments"):
        SUITE.run(data, {"ours": path})
    with pytest.raises(InputError, match="There is no file"):
        SUITE.run(tmp_path / "none.jsonl", {})

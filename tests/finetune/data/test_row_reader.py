"""Readers of paragraphs: every known layout, and clear errors for the rest."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from ape.errors import InputError
from finetune.data.inputs import BuildInputs, read_inputs
from finetune.data.par3 import read_par3
from finetune.data.row_reader import DefaultLanguages, read_training_rows
from tests.finetune.data.sample_text import paragraph, paragraphs, row, write_rows

FR_EN = DefaultLanguages("fr", "en")


def book(**changes: Any) -> dict[str, Any]:
    translations = {"Morel": {"translator_paras": ["One.", "Two."], "sent_alignments": [[0], [1]]}}
    return {"source_paras": ["Un.", "Deux."], "gt_paras": ["A.", "Both."], "translator_data": translations} | changes


def pickled(path: Path, content: Any) -> Path:
    path.write_bytes(pickle.dumps(content))
    return path


def test_par3s_pickle_gives_a_paragraph_for_each_place(tmp_path: Path) -> None:
    first, second = read_par3(pickled(tmp_path / "par3.pkl", {"moulin_fr": book()}), languages=DefaultLanguages())
    assert (first.id, first.book, first.pair) == ("moulin_fr:0", "moulin_fr", "fr-en")
    assert (second.source, second.mt, second.humans) == ("Deux.", "Both.", (("Morel", "Two."),))


def test_a_book_whose_name_does_not_end_in_its_language_asks_for_it(tmp_path: Path) -> None:
    path = pickled(tmp_path / "par3.pkl", {"le_moulin": book()})
    with pytest.raises(InputError, match=r"'le_moulin' .* does not end in its language.* source language"):
        read_par3(path, languages=DefaultLanguages())
    assert {one.pair for one in read_par3(path, languages=DefaultLanguages("fr"))} == {"fr-en"}


class _Calls:
    """An object that makes a folder when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self.path,)


def test_a_pickle_with_a_class_in_it_is_refused_before_it_runs(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    path = pickled(tmp_path / "par3.pkl", {"moulin_fr": book(gt_paras=_Calls(str(trap)))})
    with pytest.raises(InputError, match=r"is refused: it holds more than .*mkdir"):
        read_par3(path, languages=DefaultLanguages())
    assert not trap.exists()


def test_unequal_paragraph_counts_are_told_by_book_and_side(tmp_path: Path) -> None:
    path = pickled(tmp_path / "par3.pkl", {"moulin_fr": book(gt_paras=["A."])})
    with pytest.raises(InputError, match=r"'moulin_fr'.* 2 paragraphs in the source and 1 in gt_paras"):
        read_par3(path, languages=DefaultLanguages())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"moulin_fr": {"source_paras": []}}, "moulin_fr.gt_paras"),
        ([1, 2], "not laid out as PAR3"),
        ({"moulin_fr": book(translator_data={})}, "no human translation"),
    ],
)
def test_another_layout_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_par3(pickled(tmp_path / "par3.pkl", content), languages=DefaultLanguages())


def test_broken_bytes_are_no_pickle(tmp_path: Path) -> None:
    path = tmp_path / "par3.pkl"
    path.write_bytes(b"\x80\x04 nothing")
    with pytest.raises(InputError, match="not a pickle, or is broken"):
        read_par3(path, languages=DefaultLanguages())


@pytest.mark.parametrize(
    ("line", "humans"),
    [
        ({"source": "Un.", "mt": "A.", "human": "One."}, (("human", "One."),)),
        ({"source": "Un.", "mt": "A.", "post_edit": "One."}, (("human", "One."),)),
        ({"src": "Un.", "gt": "A.", "human": {"Morel": "One.", "Roy": "Won."}}, (("Morel", "One."), ("Roy", "Won."))),
        ({"source": "Un.", "mt": "A.", "human": ["One.", "Won."]}, (("human 1", "One."), ("human 2", "Won."))),
    ],
)
def test_each_way_to_name_the_fields_is_read(
    tmp_path: Path, line: dict[str, Any], humans: tuple[tuple[str, str], ...]
) -> None:
    (found,) = read_training_rows(write_rows(tmp_path / "tale.jsonl", [line]), languages=FR_EN)
    assert (found.id, found.book, found.source, found.mt) == ("tale:1", "tale", "Un.", "A.")
    assert found.humans == humans


def test_a_row_says_its_own_languages(tmp_path: Path) -> None:
    line = {"source": "Üks.", "mt": "A.", "post_edit": "One.", "src_lang": "et", "tgt_lang": "en"}
    (found,) = read_training_rows(write_rows(tmp_path / "a.jsonl", [line]), languages=FR_EN)
    assert found.pair == "et-en"


def test_a_table_is_read_by_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "tale.tsv"
    path.write_text('id\tsource\tmt\thuman:Morel\thuman:Roy\n7\tUn.\t"A."\tOne.\tWon.\n', encoding="utf-8")
    (found,) = read_training_rows(path, languages=FR_EN)
    assert (found.id, found.mt) == ("7", '"A."')
    assert found.humans == (("Morel", "One."), ("Roy", "Won."))


def test_a_translator_may_have_nothing_in_a_book_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "tales.tsv"
    rows = ["book\tsource\tmt\thuman:Morel\thuman:Roy", "a\tUn.\tA.\tOne.\t", "b\tDeux.\tBoth.\t\tTwo."]
    path.write_text("\n".join(rows), encoding="utf-8")
    assert [one.humans for one in read_training_rows(path, languages=FR_EN)] == [
        (("Morel", "One."),),
        (("Roy", "Two."),),
    ]


def test_a_table_of_three_columns_needs_no_first_line(tmp_path: Path) -> None:
    path = tmp_path / "tale.tsv"
    path.write_text("Un.\tA.\tOne.\nDeux.\tBoth.\tTwo.\n", encoding="utf-8")
    assert [one.human for one in read_training_rows(path, languages=FR_EN)] == ["One.", "Two."]


def test_a_row_with_an_empty_id_is_called_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "tale.tsv"
    path.write_text("id\tsource\tmt\thuman\n\tUn.\tA.\tOne.\n\tDeux.\tBoth.\tTwo.\n", encoding="utf-8")
    assert [one.id for one in read_training_rows(path, languages=FR_EN)] == ["tale:2", "tale:3"]


def test_half_of_a_character_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "tale.jsonl"
    path.write_text('{"id": "7", "source": "Un.", "mt": "A \\ud83d.", "human": "One."}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"paragraph '7' has half of a character in it \(U\+D83D\)"):
        read_inputs(BuildInputs(rows=(path,), languages=FR_EN))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"source": "Un.", "mt": "A.", "human": "One."}\n{"source": ', "Line 2 of tale.jsonl is not JSON"),
        ("[1]\n", "Line 1 of tale.jsonl is not a JSON object"),
        ('{"source": "Un.", "human": "One."}\n', "Line 1 of tale.jsonl has no mt"),
        ('{"source": "Un.", "mt": "A."}\n', "Line 1 of tale.jsonl has no human version"),
        ('{"source": "Un.", "mt": 3, "human": "One."}\n', "something other than text as its mt"),
        ("\n", "tale.jsonl is empty"),
    ],
)
def test_a_bad_line_is_told_by_its_number(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tale.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_training_rows(path, languages=FR_EN)


@pytest.mark.parametrize(
    ("headings", "lacks"),
    [("original\tmt\tpost_edit", "source"), ("Texte\tGT\tHuman:Morel", "source"), ("source\ttranslation\thuman", "mt")],
)
def test_a_first_line_with_one_known_heading_is_no_paragraph(tmp_path: Path, headings: str, lacks: str) -> None:
    path = tmp_path / "tale.tsv"
    path.write_text(f"{headings}\nUn.\tA.\tOne.\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"Line 2 of tale\.tsv has no {lacks}\. It has: \w+, \w+"):
        read_training_rows(path, languages=FR_EN)


def test_a_chapter_by_its_number_is_no_heading(tmp_path: Path) -> None:
    path = tmp_path / "tale.tsv"
    path.write_text("I\tI\tI\nUn.\tA.\tOne.\n", encoding="utf-8")
    assert [one.human for one in read_training_rows(path, languages=FR_EN)] == ["I", "One."]


def test_a_row_without_languages_names_the_missing_field(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "tale.jsonl", [{"source": "Un.", "mt": "A.", "human": "One."}])
    with pytest.raises(InputError, match="has no source language") as raised:
        read_training_rows(path, languages=DefaultLanguages())
    assert raised.value.field == "source_language"


def test_a_stretch_of_rows_can_stand_for_a_book(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "tale.jsonl", map(row, paragraphs(5)))
    books = [one.book for one in read_training_rows(path, languages=FR_EN, rows_as_book=2)]
    assert books == ["book0_fr#1", "book0_fr#1", "book0_fr#2", "book0_fr#2", "book0_fr#3"]


def test_two_paragraphs_of_one_id_are_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "tale.jsonl", [row(paragraph(1)), row(paragraph(1))])
    with pytest.raises(InputError, match="Two paragraphs have the id 'mill_fr:1'"):
        read_inputs(BuildInputs(rows=(path,), languages=FR_EN))


def test_a_book_in_the_wrong_language_is_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "tale.jsonl", (row(paragraph(n)) | {"mt": paragraph(n).source} for n in range(9)))
    inputs = BuildInputs(rows=(path,), languages=FR_EN)
    with pytest.raises(InputError, match="The MT of the book 'mill_fr' reads as French, and English was expected"):
        read_inputs(inputs)
    assert len(read_inputs(inputs, check_languages=False)) == 9


def test_an_empty_translation_is_refused(tmp_path: Path) -> None:
    humans = {"human": {"Morel": "One.", "Roy": ""}}
    path = write_rows(tmp_path / "tale.jsonl", (row(paragraph(n)) | humans for n in range(3)))
    with pytest.raises(InputError, match=r"human version \(Roy\) of the book 'mill_fr' is empty in all its 3"):
        read_inputs(BuildInputs(rows=(path,), languages=FR_EN))

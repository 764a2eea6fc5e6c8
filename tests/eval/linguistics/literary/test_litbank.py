"""LitBank's files, and the names inside its mentions."""

from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from eval.linguistics.literary.gold_names import name_in
from eval.linguistics.literary.litbank import LitBankDocument, read_litbank

_ENTITIES = [
    ("Poor", "B-PER", "O"), ("Mr.", "I-PER", "B-PER"), ("Pole", "I-PER", "O"), ("left", "O", "O"), ("", "", ""),
    ("He", "O", "O"), ("saw", "O", "O"), ("Kent", "B-GPE", "O"),
]  # fmt: skip
_COREFERENCE = ["(0", "_", "0)", "_", "", "(0)", "_", "(1)"]


@pytest.fixture
def litbank(tmp_path: Path) -> Path:
    (tmp_path / "entities").mkdir()
    (tmp_path / "coref").mkdir()
    rows = ["\t".join((*row, "O", "O", "")) if row[0] else "" for row in _ENTITIES]
    (tmp_path / "entities" / "1_tale.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = ["#begin document (tale); part 0"]
    for (word, *_), mark in zip(_ENTITIES, _COREFERENCE, strict=True):
        lines.append(f"tale\t0\t0\t{word}\t{mark}" if word else "")
    (tmp_path / "coref" / "1_tale.conll").write_text("\n".join([*lines, "#end document", ""]), encoding="utf-8")
    return tmp_path


def test_words_sentences_nested_mentions_and_clusters_are_read(litbank: Path) -> None:
    words = ("Poor", "Mr.", "Pole", "left", "He", "saw", "Kent")
    mentions = {(0, 3): "PER", (1, 2): "PER", (6, 7): "GPE"}
    clusters = (((0, 3), (4, 5)), ((6, 7),))
    assert read_litbank(litbank) == [LitBankDocument("1_tale", words, (0, 4), mentions, clusters)]


def test_a_folder_without_litbank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is it a copy of LitBank"):
        read_litbank(tmp_path)


def test_files_of_different_length_are_refused(litbank: Path) -> None:
    path = litbank / "entities" / "1_tale.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "again\tO\tO\tO\tO\t\n", encoding="utf-8")
    with pytest.raises(InputError, match="has 7 words"):
        read_litbank(litbank)


@pytest.mark.parametrize(
    ("phrase", "tags", "name"),
    [
        ("poor Mr. Pole , who left", "JJ NNP NNP , WP VBD", "Mr. Pole"),
        ("the Count of Monte Verde", "DT NNP IN NNP NNP", "Count of Monte Verde"),
        ("the Captain", "DT NNP", None),
        ("The old man from Kent", "DT JJ NN IN NNP", None),
        ("Mrs. Hale 's house", "NNP NNP POS NN", None),
        ("Lina", "NNP", "Lina"),
        ("Poor Lina", "NNP NNP", "Lina"),
        ("the late revered Doctor Pole", "DT JJ VBN NNP NNP", "Doctor Pole"),
        ("Sir Luke Hale of the Office", "NNP NNP NNP IN DT NNP", "Sir Luke Hale"),
        ("two Indians", "CD NNPS", None),
        ("a Man", "DT NNP", None),
        ("the Hales", "DT NNPS", "Hales"),
    ],
)
def test_the_name_of_a_mention_is_its_head(phrase: str, tags: str, name: str | None) -> None:
    words = phrase.split()
    found = name_in(words, tags.split(), (0, len(words)), person=True)
    assert (" ".join(words[found[0] : found[1]]) if found else None) == name

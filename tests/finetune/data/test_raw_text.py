from __future__ import annotations

from pathlib import Path

import pytest

from ape.errors import InputError
from finetune.data.raw_text import read_raw_paragraphs


def test_paragraphs_come_without_mark_up_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "mill.html"
    path.write_text("<html><body><p>The <i>old</i> mill.</p><p> </p><p>Nobody came.</p></body></html>")
    assert read_raw_paragraphs(path) == ["The old mill.", "Nobody came."]


def test_a_file_without_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mill.txt"
    path.write_text("\n \n")
    with pytest.raises(InputError, match="no text"):
        read_raw_paragraphs(path)


def test_a_bilingual_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mill.tsv"
    path.write_text("source\ttarget\nLe moulin.\tThe mill.\nPersonne.\tNobody.\n")
    with pytest.raises(InputError, match="two languages"):
        read_raw_paragraphs(path)

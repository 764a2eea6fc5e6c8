"""The cache: equal results, computed once, with several processes and damaged files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.linguistics.annotators.cache import DATABASE_FILE, CachedAnnotator
from eval.linguistics.annotators.serialization import pack_annotation, unpack_annotation
from tests.eval.linguistics.annotators.letter_annotator import Letters, annotation


@given(st.text(max_size=20))
def test_a_packed_annotation_is_unpacked_unchanged(text: str) -> None:
    if "\ud800" <= max(text, default="") <= "\udfff":
        return
    assert unpack_annotation(pack_annotation(annotation(text)), text) == annotation(text)


def test_a_text_is_annotated_once(tmp_path: Path) -> None:
    letters = Letters()
    cached = CachedAnnotator(letters, tmp_path)
    texts = ["ab", "cd", "ab", ""]
    assert cached.annotate(texts) == [annotation(text) for text in texts]
    assert CachedAnnotator(letters, tmp_path).annotate(texts) == [annotation(text) for text in texts]
    assert letters.texts_seen == ["ab", "cd", ""]
    assert cached.name == "letters-1"


def test_annotators_do_not_share_results(tmp_path: Path) -> None:
    CachedAnnotator(Letters(), tmp_path).annotate(["ab"])
    other = Letters(name="letters-2")
    CachedAnnotator(other, tmp_path).annotate(["ab"])
    assert other.texts_seen == ["ab"]


def test_many_texts_are_annotated_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.linguistics.annotators.cache.BATCH", 7)
    texts = [str(number) for number in range(40)]
    assert CachedAnnotator(Letters(), tmp_path).annotate(texts) == [annotation(text) for text in texts]


def test_a_damaged_or_unwritable_file_does_not_fail(tmp_path: Path) -> None:
    (tmp_path / DATABASE_FILE).write_bytes(b"this is no database" * 100)
    assert CachedAnnotator(Letters(), tmp_path).annotate(["ab"]) == [annotation("ab")]
    (tmp_path / "file").write_text("")
    assert CachedAnnotator(Letters(), tmp_path / "file").annotate(["ab"]) == [annotation("ab")]


def test_a_slow_annotator_works_in_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.linguistics.annotators.cache._WORTH_A_PROCESS", 2)
    letters = Letters(slow=True)
    texts = [f"text {number}" for number in range(40)]
    assert CachedAnnotator(letters, tmp_path, processes=2).annotate(texts) == [annotation(text) for text in texts]
    assert letters.texts_seen == []  # the worker processes annotated all
    monkeypatch.setattr("eval.linguistics.annotators.cache._WORTH_A_PROCESS", 1000)
    assert CachedAnnotator(letters, tmp_path).annotate(texts)
    assert letters.texts_seen == []  # from the cache


@pytest.mark.subprocess
def test_two_processes_fill_it_at_once(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from eval.linguistics.annotators.cache import CachedAnnotator;"
        "from tests.eval.linguistics.annotators.letter_annotator import Letters;"
        "CachedAnnotator(Letters(), pathlib.Path(sys.argv[1])).annotate([str(n) for n in range(3000)])"
    )
    both = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [one.wait(timeout=300) for one in both] == [0, 0]
    letters = Letters()
    texts = [str(number) for number in range(3000)]
    assert CachedAnnotator(letters, tmp_path).annotate(texts) == [annotation(text) for text in texts]
    assert letters.texts_seen == []

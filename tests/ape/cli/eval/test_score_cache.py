"""`ape eval score` reuses cached annotations and alignments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from eval.linguistics.annotators.chinese import JiebaAnnotator
from eval.linguistics.annotators.english import EnglishAnnotator
from eval.linguistics.word_alignment import EflomalAligner
from tests.ape.cli.conftest import Run
from tests.eval.metrics.metamorphic.sample import sample


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Four documents with a source, a reference and two systems."""
    rows = [
        {
            "id": one.id,
            "source": one.sources,
            "reference": one.references[0],
            "systems": {name: one.outputs[name] for name in ("thinned", "backwards")},
        }
        for one in sample().documents
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path.name


@pytest.mark.subprocess
def test_a_second_run_uses_the_cache(here: Run, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("eval", "score", table, "--metric", "discourse", "--json", "--samples", "100")
    first = here(*words)
    assert first.returncode == 0, first.stderr

    def refuse(self: object, texts: Sequence[str], **_: object) -> NoReturn:
        raise AssertionError(f"annotated again: {texts[:1]}")

    for kind in (EnglishAnnotator, JiebaAnnotator):
        monkeypatch.setattr(kind, "annotate", refuse)
    monkeypatch.setattr(EflomalAligner, "align", refuse)
    second = here(*words)
    assert second.stdout == first.stdout


def test_a_changed_text_is_not_answered_from_the_cache(here: Run, table: str, tmp_path: Path) -> None:
    words = ("eval", "score", table, "--metric", "dip-pronouns", "--json", "--samples", "100")
    before = json.loads(here(*words).stdout)
    path = tmp_path / table
    path.write_text(path.read_text(encoding="utf-8").replace("He laughed", "She laughed", 1), encoding="utf-8")
    after = json.loads(here(*words).stdout)
    assert after["scores"] != before["scores"]


def test_an_unwritable_cache_does_not_stop_the_run(
    here: Run, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("eval", "score", table, "--metric", "blonde", "--json", "--samples", "100")
    usual = here(*words)
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert here(*words).stdout == usual.stdout

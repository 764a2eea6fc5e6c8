"""Synthetic chapters are reproducible, and no two systems are alike."""

from __future__ import annotations

from pathlib import Path

from benchmarks.synthetic_chapters import SYSTEMS, write_chapters
from eval.corpus.pronoun_marks import parse_dropped_pronouns
from eval.corpus.reader import read_corpus


def test_chapters_are_reproducible_and_systems_differ(tmp_path: Path) -> None:
    for name in ("one.jsonl", "other.jsonl"):
        write_chapters(tmp_path / name, chapters=3, sentences=20)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()
    corpus = read_corpus(tmp_path / "one.jsonl")
    assert (len(corpus.documents), len(corpus)) == (3, 60)
    assert corpus.systems == tuple(SYSTEMS)
    assert len({one.outputs[name] for one in corpus.documents for name in SYSTEMS}) == 3 * len(SYSTEMS)
    assert all(parse_dropped_pronouns(source) for one in corpus.documents for source in one.sources)

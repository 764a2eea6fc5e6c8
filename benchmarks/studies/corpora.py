"""Rows of MLQE-PE, PAR3's Candide and the Chinese web novels, for benchmarks and studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ape.files.rows import read_jsonl

CorpusRows = list[dict[str, Any]]


def mlqe_path(data: Path, pair: str, split: str = "dev") -> Path:
    """The file of a language pair and split of MLQE-PE."""
    return data / "mlqe_pe" / f"{pair}.{split}.jsonl"


def candide_path(data: Path) -> Path:
    """The file of PAR3's Candide."""
    return data / "par3" / "candide_fr.aligned.jsonl"


def mlqe_rows(data: Path, pair: str, split: str = "dev") -> CorpusRows:
    """Rows of MLQE-PE with `source`, `mt` and `post_edit`."""
    return _rows(mlqe_path(data, pair, split))


def candide_rows(data: Path) -> CorpusRows:
    """Paragraphs of Candide: `src`, Google's MT as `gt`, and `human` by translator."""
    return _rows(candide_path(data))


def fiction_rows(data: Path) -> CorpusRows:
    """Chapters of web novels: `source`, `reference` and `systems`, lists of paragraphs."""
    return _rows(data / "fiction_zh_en.jsonl")


def _rows(path: Path) -> CorpusRows:
    return [row for _, row in read_jsonl(path)]

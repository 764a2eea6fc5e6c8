"""Reader of LitBank: the words, mentions of six entity types, and coreference of each excerpt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ape.errors import InputError
from eval.linguistics.coreference.conll_reader import read_conll

Span: TypeAlias = tuple[int, int]
"""The first word and the word after the last."""


@dataclass(frozen=True, slots=True)
class LitBankDocument:
    """One excerpt: its words, where sentences begin, typed mentions, and clusters with pronouns."""

    name: str
    words: tuple[str, ...]
    sentences: tuple[int, ...]
    mentions: dict[Span, str]
    clusters: tuple[tuple[Span, ...], ...]

    def sentence_spans(self) -> list[Span]:
        """The first word of each sentence and the word after its last."""
        return list(zip(self.sentences, (*self.sentences[1:], len(self.words)), strict=True))


def read_litbank(folder: Path) -> list[LitBankDocument]:
    """Read all excerpts of a folder with `entities/*.tsv` and `coref/*.conll`, by name."""
    paths = sorted((folder / "entities").glob("*.tsv"))
    if not paths:
        raise InputError(f"{folder} has no entities/*.tsv: is it a copy of LitBank?")
    return [_read_document(path, folder / "coref" / f"{path.stem}.conll") for path in paths]


def _read_document(path: Path, coreference: Path) -> LitBankDocument:
    rows: list[list[str]] = []
    sentences: list[int] = []
    begins = True
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            if begins:
                sentences.append(len(rows))
            rows.append(line.split("\t"))
        begins = not line.strip()
    mentions = {
        span: label for column in range(1, 6) for span, label in _spans([row[column : column + 1] for row in rows])
    }
    (document,) = read_conll(coreference).values()
    if document.tokens != len(rows):
        raise InputError(f"{coreference} has {document.tokens} words, and {path} has {len(rows)}.")
    clusters = tuple(tuple((first, last + 1) for first, last in spans) for spans in document.entities.values())
    return LitBankDocument(path.stem, tuple(row[0] for row in rows), tuple(sentences), mentions, clusters)


def _spans(column: Sequence[Sequence[str]]) -> Iterator[tuple[Span, str]]:
    """The labelled spans of one column of B-, I- and O."""
    start, label = 0, ""
    for place, cell in enumerate([*column, ["O"]]):
        mark, _, kind = (cell[0] if cell else "O").partition("-")
        if label and mark != "I":
            yield (start, place), label
            label = ""
        if mark == "B":
            start, label = place, kind

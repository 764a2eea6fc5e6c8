"""Readers for JSON lines and tab-separated tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ape.errors import InputError
from ape.files.rows import read_jsonl
from eval.corpus.raw_document import numbered_lines
from eval.corpus.table_rows import DOCUMENT_COLUMNS, CorpusRow, normalize_column_name, number_references, parse_row

_SOURCES = ("source", "src")
_REFERENCES = ("reference", "ref", "human")
_DOCUMENTS = (*DOCUMENT_COLUMNS, "chapter", "chapter_id")
# Columns that are neither texts nor ids of documents.
_OTHERS = frozenset(
    "id book title author genre domain segment segment_id seg seg_id sentence_id sent_id line line_number number index "
    "lang language source_lang source_language src_lang target_lang target_language tgt_lang split score".split()
)


def read_jsonl_rows(path: Path, *, encoding: str | None = None) -> Iterator[CorpusRow]:
    """One row for each line that is not blank."""
    for number, values in read_jsonl(path, numbered_lines(path, encoding=encoding), field="path"):
        yield parse_row(values, number, path.name)


def read_tsv_rows(path: Path, *, encoding: str | None = None) -> Iterator[CorpusRow]:
    """One row for each line after the header. Unknown columns are systems.

    Quotes have no meaning. An empty reference cell is a segment without a translation.
    """
    given = iter(numbered_lines(path, encoding=encoding))
    names = next(given, (1, ""))[1].rstrip("\r").split("\t")
    if len({_column(name) for name in names}) < len(names):
        raise InputError(f"Line 1 of {path.name} has two columns of the same name: {', '.join(names)}.", field="path")
    if not any(_is_reference(name) or normalize_column_name(name) in (*_SOURCES, *_DOCUMENTS) for name in names):
        raise InputError(
            f"Line 1 of {path.name} does not name its columns. Expected tab-separated names such as document, source, "
            "reference, then one name for each system.",
            field="path",
        )
    for number, line in given:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise InputError(
                f"Line {number} of {path.name} has {len(cells)} columns, and the first line names {len(names)}.",
                field="path",
            )
        yield _row({_column(name): cell for name, cell in zip(names, cells, strict=True)}, number)


def _is_reference(name: str) -> bool:
    return normalize_column_name(name).rstrip("0123456789").rstrip("_. ") in _REFERENCES


def _column(name: str) -> str:
    """Normalise a column name, unless it is a system's."""
    ours = normalize_column_name(name)
    known = ours in (*_SOURCES, *_DOCUMENTS) or ours in _OTHERS or _is_reference(name)
    return ours if known else name.strip()


def _row(cells: dict[str, str], number: int) -> CorpusRow:
    plain = {*_SOURCES, *_DOCUMENTS, *_OTHERS}
    return CorpusRow(
        number,
        next((cells[name] for name in _SOURCES if name in cells), None),
        number_references(text if text.strip() else None for name, text in cells.items() if _is_reference(name)),
        {name: text for name, text in cells.items() if name not in plain and not _is_reference(name)},
        next((cells[name] for name in _DOCUMENTS if name in cells), ""),
        cells.get("book", ""),
    )

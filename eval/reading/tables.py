"""JSON lines and tab-separated tables, line by line into rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ape.errors import InputError
from eval.reading.given import numbered_lines
from eval.reading.rows import DOCUMENTS, Row, numbered, row_of

_SOURCES = ("source", "src")
_REFERENCES = ("reference", "ref")
_OTHERS = ("id", "book")


def jsonl_rows(path: Path, *, encoding: str | None = None) -> Iterator[Row]:
    """One row for each line that is not blank."""
    for number, line in numbered_lines(path, encoding=encoding):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
            raise InputError(f"Line {number} of {path.name} is not JSON: {why}.", field="path") from error
        if not isinstance(values, dict):
            raise InputError(f"Line {number} of {path.name} is not a JSON object.", field="path")
        yield row_of(values, number, path.name)


def tsv_rows(path: Path, *, encoding: str | None = None) -> Iterator[Row]:
    """One row for each line after the first, which names the columns; what is no other column is a system.

    Quotes mean nothing. An empty cell under a reference is a segment that it does not translate.
    """
    given = iter(numbered_lines(path, encoding=encoding))
    names = next(given, (1, ""))[1].rstrip("\r").split("\t")
    if len(set(names)) < len(names):
        raise InputError(f"Line 1 of {path.name} names two columns alike: {', '.join(names)}.", field="path")
    if not any(_is_reference(name) or name in (*_SOURCES, *DOCUMENTS) for name in names):
        raise InputError(
            f"Line 1 of {path.name} does not name its columns. It should be like: document, source, reference, and "
            "then the systems by their names, with a tab between them.",
            field="path",
        )
    for number, line in given:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise InputError(
                f"Line {number} of {path.name} has {len(cells)} columns, and the first line names {len(names)}.",
                field="path",
            )
        yield _row(dict(zip(names, cells, strict=True)), number)


def _is_reference(name: str) -> bool:
    return name.rstrip("0123456789").rstrip("_-. ") in _REFERENCES


def _row(cells: dict[str, str], number: int) -> Row:
    plain = (*_SOURCES, *DOCUMENTS, *_OTHERS)
    return Row(
        number,
        next((cells[name] for name in _SOURCES if name in cells), None),
        numbered(text if text.strip() else None for name, text in cells.items() if _is_reference(name)),
        {name: text for name, text in cells.items() if name not in plain and not _is_reference(name)},
        next((cells[name] for name in DOCUMENTS if name in cells), ""),
        cells.get("book", ""),
    )

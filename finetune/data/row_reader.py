"""Read paragraphs from JSONL and TSV files, by the field names that corpora use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ape.errors import InputError
from ape.files.rows import read_jsonl, read_tsv
from ape.text.languages import language_code
from finetune.data.paragraph import TrainingParagraph

SOURCE_FIELDS = ("source", "src")
MT_FIELDS = ("mt", "gt")
HUMAN_FIELDS = ("human", "humans", "post_edit")
ID_FIELDS = ("id", "i")
SOURCE_LANGUAGE_FIELDS = ("source_language", "src_lang")
TARGET_LANGUAGE_FIELDS = ("target_language", "tgt_lang")
# Prefix of a column for each translator, as "human:Morley".
_HUMAN_COLUMN_PREFIX = "human:"
# A first line with any of these is a header. Not "i", which may be the number of a chapter.
_COLUMN_NAMES = {
    *SOURCE_FIELDS,
    *MT_FIELDS,
    *HUMAN_FIELDS,
    "id",
    "book",
    *SOURCE_LANGUAGE_FIELDS,
    *TARGET_LANGUAGE_FIELDS,
}


@dataclass(frozen=True, slots=True)
class DefaultLanguages:
    """Languages of rows that do not name theirs."""

    source: str | None = None
    target: str | None = None


def read_training_rows(
    path: Path, *, languages: DefaultLanguages, split: str | None = None, rows_as_book: int | None = None
) -> list[TrainingParagraph]:
    """Read a .jsonl or .tsv file. A row without a book belongs to the book named after the file.

    `rows_as_book` divides a file without book names into books of that many rows.
    """
    table = path.suffix.lower() in (".tsv", ".tab")
    if not table and path.suffix.lower() not in (".jsonl", ".ndjson", ".json"):
        raise InputError(f"{path} is neither .jsonl nor .tsv, so it can't be read.")
    found = []
    for count, (number, row) in enumerate(_table(path) if table else read_jsonl(path)):
        place = f"Line {number} of {path.name}"
        paragraph = _paragraph(row, place, path.stem, number, languages, split)
        if rows_as_book:
            book = f"{paragraph.book}#{count // rows_as_book + 1}"
            paragraph = replace(paragraph, book=book)
        found.append(paragraph)
    if not found:
        raise InputError(f"{path.name} is empty.")
    return found


def _table(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    rows = read_tsv(path)
    start, cells = next(rows, (0, []))
    if not cells:
        return
    names = [cell.strip() if cell.startswith(_HUMAN_COLUMN_PREFIX) else cell.strip().lower() for cell in cells]
    if not any(name in _COLUMN_NAMES or name.startswith(_HUMAN_COLUMN_PREFIX) for name in names):
        if len(names) != 3:
            raise InputError(
                f"{path.name} has {len(names)} columns and no first line that names them. Give it three, source, MT "
                "and human version, or a first line with the names source, mt and human among others."
            )
        names = ["source", "mt", "human"]
        yield start, dict(zip(names, cells, strict=True))
    for number, cells in rows:
        row: dict[str, Any] = {name: cell for name, cell in zip(names, cells, strict=True) if cell}
        named = {
            name.removeprefix(_HUMAN_COLUMN_PREFIX): row.pop(name, "")
            for name in names
            if name.startswith(_HUMAN_COLUMN_PREFIX)
        }
        # Not every translator has translated every book of a table.
        some = {name: text for name, text in named.items() if text.strip()} or named
        yield number, {**row, "human": some} if named else {**dict.fromkeys(names, ""), **row}


def _paragraph(
    row: Mapping[str, Any], place: str, stem: str, number: int, languages: DefaultLanguages, split: str | None
) -> TrainingParagraph:
    book = str(row.get("book") or stem)
    given = _first(row, ID_FIELDS)
    own = str(given) if "id" in row else f"{book}:{given}"
    return TrainingParagraph(
        f"{stem}:{number}" if given in (None, "") else own,
        book,
        _string(row, SOURCE_FIELDS, place),
        _string(row, MT_FIELDS, place),
        _humans(row, place),
        _language(row, SOURCE_LANGUAGE_FIELDS, languages.source, place),
        _language(row, TARGET_LANGUAGE_FIELDS, languages.target, place),
        split,
    )


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _string(row: Mapping[str, Any], names: Sequence[str], place: str) -> str:
    value = _first(row, names)
    if not isinstance(value, str):
        what = "has no" if value is None else "has something other than text as its"
        raise InputError(f"{place} {what} {names[0]}. It has: {', '.join(map(str, row))[:200]}.")
    return value.strip()


def _humans(row: Mapping[str, Any], place: str) -> tuple[tuple[str, str], ...]:
    value = _first(row, HUMAN_FIELDS)
    if isinstance(value, str):
        found = [("human", value)]
    elif isinstance(value, Mapping):
        found = [(str(name), text) for name, text in value.items()]
    elif isinstance(value, list):
        found = [(f"human {number}", text) for number, text in enumerate(value, start=1)]
    else:
        raise InputError(f"{place} has no human version: a field called {', '.join(HUMAN_FIELDS)}.")
    if not found or not all(isinstance(text, str) for _, text in found):
        raise InputError(f"{place} has something other than text as a human version.")
    return tuple((name, text.strip()) for name, text in found)


def _language(row: Mapping[str, Any], names: Sequence[str], default: str | None, place: str) -> str:
    value = _first(row, names) or default
    if not value:
        raise InputError(
            f"{place} has no {names[0].replace('_', ' ')}. Write it into the rows, as {names[0]}, or give it for all "
            "rows, for example fr.",
            field=names[0],
        )
    return language_code(str(value))

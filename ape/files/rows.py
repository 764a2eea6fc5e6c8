"""Readers of line-based files: JSON lines, tab-separated and comma-separated tables, with line numbers in errors.

Only line feeds end a line, with or without a carriage return: a U+2028 or U+0085 inside a text does not.
"""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from ape.errors import InputError
from ape.field_errors import describe_field_error

NumberedLines: TypeAlias = Iterable[tuple[int, str]]


def read_utf8(path: Path, *, field: str | None = None) -> str:
    """The text of a file without its byte order mark; InputError if it can't be read or is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", field=field) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} is not UTF-8 (at byte {error.start:,}). Save it as UTF-8.", field=field
        ) from error


def numbered_lines(path: Path, *, blank: bool = False, field: str | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file without their ends, counted from 1; blank ones only on request."""
    return split_lines(read_utf8(path, field=field), blank=blank)


def split_lines(text: str, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a text without their ends, counted from 1; blank ones only on request."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        if blank or line.strip():
            yield number, line.removesuffix("\r")


def read_jsonl(
    path: Path, lines: NumberedLines | None = None, *, field: str | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file, one on each line, with line numbers; `lines` if it has been read already."""
    for number, line in numbered_lines(path, field=field) if lines is None else lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
            raise InputError(f"Line {number} of {path.name} is not JSON: {why}.", field=field) from error
        if not isinstance(row, dict):
            raise InputError(f"Line {number} of {path.name} is not a JSON object.", field=field)
        yield number, row


def read_tsv(
    path: Path, lines: NumberedLines | None = None, *, columns: int | None = None, field: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line between tabs; quotes have no meaning.

    All lines have as many cells as the first one, or as `columns` says.
    """
    for number, line in numbered_lines(path, field=field) if lines is None else lines:
        cells = line.split("\t")
        columns = len(cells) if columns is None else columns
        if len(cells) != columns:
            raise InputError(
                f"Line {number} of {path.name} has {len(cells)} columns, and the first line has {columns}. Columns are "
                "separated by one tab each.",
                field=field,
            )
        yield number, cells


def read_csv(
    text: str, place: str, *, required: Collection[str] = (), field: str | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table by the names in its first line, with the number of the line each ends on.

    Cells are separated by commas, semicolons (as spreadsheets do where numbers have commas) or tabs.
    """
    delimiter = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    if missing := set(required) - set(reader.fieldnames or ()):
        columns = ", ".join(map(repr, sorted(missing)))
        raise InputError(f"{place} has no column{'s' if len(missing) > 1 else ''} {columns}.", field=field)
    try:
        for row in reader:
            if None in row or None in row.values():
                raise InputError(
                    f"Line {reader.line_num} of {place} has not as many cells as the first line.", field=field
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"Line {reader.reader.line_num} of {place} can't be read: {error}.", field=field) from error


def read_toml(path: Path, *, field: str | None = None) -> dict[str, Any]:
    """The tables of a TOML file; InputError if it can't be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", field=field) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}.", field=field) from error


def describe_validation_error(error: ValidationError, *, root: str = "") -> str:
    """The first mistake that pydantic found: the path of the field, or `root`, and what it takes."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or root
    message = describe_field_error(first)
    return f"{place}: {message}" if place else message

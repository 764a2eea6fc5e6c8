"""JSON Lines: one object a line, with `source` and `mt` (or `target`, `translation`), or with `text` alone.

A new text replaces only its string; key order, spaces and escapes of the rest of the line stay. `id` and `chapter` are
optional.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ape.books.book import Paragraph, UnicodeBook
from ape.books.encoding import Encoding, FileLine, find_encoding, read_lines
from ape.books.file_pieces import FilePiece, TextFileBook
from ape.books.record_fields import (
    SOURCE_FIELDS,
    TARGET_FIELDS,
    TEXT_FIELDS,
    ChapterNumbering,
    RecordFields,
    UniqueIds,
    pair_skip_reason,
)
from ape.errors import InputError

_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of an object, and its position in the line."""

    value: Any  # any JSON value
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonlBook(UnicodeBook, TextFileBook):
    """A file of JSON lines."""

    path: Path
    encoding: Encoding
    fields: RecordFields
    language: str | None = None
    source_language: str | None = None
    format: str = "jsonl"

    @property
    def bilingual(self) -> bool:
        """Whether its lines include a source."""
        return self.fields.source is not None

    def pieces(self) -> Iterator[FilePiece]:
        """Iterate over the lines as pieces."""
        ids, chapters = UniqueIds(), ChapterNumbering()
        for number, line in enumerate(read_lines(self.path, self.encoding), start=1):
            if not line.text.strip():
                yield FilePiece(line.raw)
                continue
            place = f"Line {number} of {self.path.name}"
            values = _values(line.text, place)
            if "chapter" in values:
                chapters.enter(_name(values["chapter"].value))
            given = _name(values["id"].value) if "id" in values else ""
            paragraph = self._paragraph(values, ids.unique(given or f"line{number}"), chapters, place)
            target = values.get(self.fields.target)
            yield FilePiece(
                line.raw, paragraph, _LineWriter(line, target, self.encoding, place).render if target else None
            )

    def _paragraph(self, values: dict[str, _Value], id: str, chapters: ChapterNumbering, place: str) -> Paragraph:
        text = _text(values, self.fields.target, place)
        source = _text(values, self.fields.source, place) if self.fields.source else None
        skip = pair_skip_reason(source, text, bilingual=self.bilingual)
        return Paragraph(id, chapters.number, chapters.title, text, source=source, skip=skip)


@dataclass(frozen=True, slots=True)
class _LineWriter:
    line: FileLine
    target: _Value
    encoding: Encoding
    place: str

    def render(self, new: str) -> bytes:
        text = self.line.text
        # An ASCII line stays ASCII; so does a line whose encoding lacks a character.
        plain = text.isascii() or not self.encoding.can_encode(new)
        token = json.dumps(new, ensure_ascii=plain)
        whole = text[: self.target.start] + token + text[self.target.end :] + self.line.end
        return self.encoding.encode(whole, place=self.place)


def _name(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _text(values: dict[str, _Value], name: str, place: str) -> str:
    value = values[name].value if name in values else None
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{place}: {name!r} is not a string but {str(value)[:40]!r}.", field=name)
    return value


def _values(text: str, place: str) -> dict[str, _Value]:
    """The members of the object on a line. The last of two equal keys counts, as in `json`."""
    try:
        return dict(_members(text))
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise InputError(f"{place} is not a JSON object: {why}.", field="line") from error


def _members(text: str) -> Iterator[tuple[str, _Value]]:
    at = _expect(text, _skip(text, 0), "{")
    if text[at : at + 1] == "}":
        return
    while True:
        _expect(text, at, '"')
        key, at = _DECODER.raw_decode(text, at)
        at = _expect(text, _skip(text, at), ":")
        value, end = _DECODER.raw_decode(text, at)
        yield key, _Value(value, at, end)
        at = _skip(text, end)
        if text[at : at + 1] == "}":
            break
        at = _expect(text, at, ",")
    if _skip(text, at + 1) < len(text):
        raise json.JSONDecodeError("something follows its end", text, at)


def _expect(text: str, at: int, char: str) -> int:
    if text[at : at + 1] != char:
        raise json.JSONDecodeError(f"{char} is missing at column {at + 1}", text, at)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def open_jsonl(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> JsonlBook:
    """Open a JSON Lines file; its first line determines the field names."""
    found = find_encoding(path, encoding=encoding)
    for number, line in enumerate(read_lines(path, found), start=1):
        if line.text.strip():
            names = list(_values(line.text, f"Line {number} of {path.name}"))
            fields = RecordFields.among(names)
            if fields is None:
                raise InputError(
                    f"{path.name} has the keys {', '.join(names)[:200]!r}, and none of them is a text. It needs one of "
                    f"{', '.join(TARGET_FIELDS)} with {' or '.join(SOURCE_FIELDS)}, or {TEXT_FIELDS[0]} alone.",
                    field="mt",
                )
            return JsonlBook(path, found, fields)
    raise InputError(f"{path.name} is empty.", field="mt")

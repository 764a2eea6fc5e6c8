"""Tab-separated values: two columns, source and MT, or a header that names the columns.

Quotes are plain text, since dialogue is full of them. Fields are read as quoted only where every field that begins with
a quote follows the rules of CSV and some field proves it by a doubled quote, a tab or a line end inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ape.books.book import Paragraph
from ape.books.encoding import Encoding, FileLine, find_encoding, read_lines
from ape.books.file_pieces import FilePiece, TextFileBook
from ape.books.record_fields import ChapterNumbering, RecordFields, UniqueIds, pair_skip_reason
from ape.errors import InputError

# What follows the opening quote of a column. A doubled quote does not close it.
_QUOTED_REST = re.compile(r'(?:[^"]++|"")*+"(?!")')
# A quote that is not closed within these many lines is plain text.
_LONGEST = 2000
# A table of more columns is not read by the rules of quotes: it is damaged, or something else.
_MOST_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class _Record:
    """A row: its fields with their quotes, its line end and its bytes."""

    number: int
    cells: list[str]
    end: str
    raw: bytes


class _Malformed(Exception):
    """The file does not follow the quoting rules."""


@dataclass(frozen=True, slots=True)
class TsvBook(TextFileBook):
    """A tab-separated file; `names` are the names of its columns, from its header or implied."""

    path: Path
    encoding: Encoding
    names: tuple[str, ...]
    fields: RecordFields
    has_header: bool
    quoted: bool
    language: str | None = None
    source_language: str | None = None
    format: str = "tsv"

    @property
    def bilingual(self) -> bool:
        """Whether it has a source column."""
        return self.fields.source is not None

    def pieces(self) -> Iterator[FilePiece]:
        """Iterate over the rows as pieces."""
        ids, chapters, has_header = UniqueIds(), ChapterNumbering(), self.has_header
        for record in _records(self.path, self.encoding, quoted=self.quoted):
            if has_header or record.cells == [""]:
                has_header = has_header and record.cells == [""]
                yield FilePiece(record.raw)
                continue
            values = self._values(record)
            if "chapter" in values:
                chapters.enter(values["chapter"])
            source = values[self.fields.source] if self.fields.source else None
            text = values[self.fields.target]
            paragraph = Paragraph(
                ids.unique(values.get("id") or f"line{record.number}"),
                chapters.number,
                chapters.title,
                text,
                source=source,
                skip=pair_skip_reason(source, text, bilingual=self.bilingual),
            )
            yield FilePiece(record.raw, paragraph, _RowWriter(record, self).render)

    def _values(self, record: _Record) -> dict[str, str]:
        if len(record.cells) != len(self.names):
            raise InputError(
                f"Line {record.number} of {self.path.name} has {len(record.cells)} columns, and the first line has "
                f"{len(self.names)}. Columns are separated by one tab each.",
                field="line",
            )
        cells = map(_unquote, record.cells) if self.quoted else record.cells
        return dict(zip(self.names, cells, strict=True))


@dataclass(frozen=True, slots=True)
class _RowWriter:
    record: _Record
    book: TsvBook

    def render(self, new: str) -> bytes:
        cells = list(self.record.cells)
        column = self.book.names.index(self.book.fields.target)
        if not self.book.quoted:
            cells[column] = re.sub(r"[\t\r\n]+", " ", new)
        elif cells[column].startswith('"') or re.search(r'[\t\r\n]|^"', new):
            cells[column] = '"' + new.replace('"', '""') + '"'
        else:
            cells[column] = new
        whole = "\t".join(cells) + self.record.end
        return self.book.encoding.encode(whole, place=f"Line {self.record.number}")


def _unquote(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell


def _records(path: Path, encoding: Encoding, *, quoted: bool) -> Iterator[_Record]:
    if not quoted:
        for number, line in enumerate(read_lines(path, encoding), start=1):
            yield _Record(number, line.text.split("\t"), line.end, line.raw)
        return
    try:
        yield from _quoted_records(path, encoding)
    except _Malformed as error:
        raise InputError(f"{path.name}: {error}", field="line") from error


def _quoted_records(path: Path, encoding: Encoding) -> Iterator[_Record]:
    row = _QuotedRow()
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if row.add(number, line):
            yield row.record()
            row = _QuotedRow()
        elif len(row.lines) > _LONGEST:
            break
    if row.lines:
        raise _Malformed(f"the quote that line {row.lines[0][0]} opens is never closed.")


class _QuotedRow:
    """A row being read, line by line. Each line is looked at once, however many lines a quoted column has."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, FileLine]] = []
        self._cells: list[str] = []
        self._open: list[str] = []  # the parts of a quoted column that is not closed yet

    def add(self, number: int, line: FileLine) -> bool:
        """Read the next line; whether the row ends with it."""
        self.lines.append((number, line))
        at = 0
        while True:
            if self._open or line.text.startswith('"', at):
                end = self._quoted(line.text, at)
                if end is None:
                    self._open.append(line.text[at:] + line.end)
                    return False
                if end < len(line.text) and line.text[end] != "\t":
                    raise _Malformed(f"line {self.lines[0][0]} has a quote in the middle of a quoted column.")
                self._cells.append("".join([*self._open, line.text[at:end]]))
                self._open.clear()
            else:
                end = line.text.find("\t", at)
                end = len(line.text) if end < 0 else end
                self._cells.append(line.text[at:end])
            if end == len(line.text):
                return True
            if len(self._cells) > _MOST_COLUMNS:
                raise _Malformed(f"line {number} has more than {_MOST_COLUMNS:,} columns.")
            at = end + 1

    def _quoted(self, text: str, at: int) -> int | None:
        """The end of a quoted column, or None where it continues on the next line."""
        match = _QUOTED_REST.match(text, at if self._open else at + 1)
        return match.end() if match else None

    def record(self) -> _Record:
        """The complete row."""
        raw = b"".join(line.raw for _, line in self.lines)
        return _Record(self.lines[0][0], self._cells, self.lines[-1][1].end, raw)


def _is_quoted(path: Path, encoding: Encoding) -> bool:
    evidence, everything, some = False, True, False
    try:
        for record in _quoted_records(path, encoding):
            for cell in record.cells:
                if cell.startswith('"'):
                    some = True
                    evidence = evidence or any(sign in cell[1:-1] for sign in ('"', "\t", "\n", "\r"))
                elif cell:
                    everything = False
    except _Malformed:
        return False
    return evidence or (some and everything)


def open_tsv(
    path: Path, *, encoding: str | None = None, source_language: str | None = None, target_language: str | None = None
) -> TsvBook:
    """Open a tab-separated file."""
    found = find_encoding(path, encoding=encoding)
    quoted = _is_quoted(path, found)
    records = _records(path, found, quoted=quoted)
    first = next((record for record in records if record.cells != [""]), None)
    if first is None:
        raise InputError(f"{path.name} is empty.", field="mt")
    cells = [_unquote(cell) if quoted else cell for cell in first.cells]
    names = tuple(cell.strip().lower() for cell in cells)
    fields = RecordFields.among(names)
    # In a table of two columns, a cell "text" in the first row does not make it a header.
    if fields and len(set(names)) == len(names) and (fields.source or len(names) != 2 or "id" in names):
        return TsvBook(path, found, names, fields, True, quoted)
    if len(names) == 2:
        fields = RecordFields("mt", "source")
        return TsvBook(path, found, ("source", "mt"), fields, False, quoted)
    raise InputError(
        f"{path.name} has {len(names)} column{'s' * (len(names) != 1)} and no header. Give it two "
        "columns, source and MT, or a header with the names source and mt.",
        field="mt",
    )

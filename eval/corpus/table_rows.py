"""Rows of named texts from JSON lines or tables, one for each segment or one for each document.

A row has `source`, `reference` (or `references`), `systems` by name, and `document`; a row without a document continues
the previous one. If a text is a list, the row is a whole document and all its texts are lists. A lone `mt` is a system,
and PAR3's names (`src`, `gt`, `human`) are accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ape.errors import InputError
from eval.corpus.raw_document import RawDocument, TextLines

DOCUMENT_COLUMNS = ("document", "doc", "document_id", "doc_id", "docid")
# Columns that hold a system's output without `systems`.
_OUTPUT_COLUMNS = ("mt", "gt")
_NAMES = frozenset(
    (*DOCUMENT_COLUMNS, *_OUTPUT_COLUMNS, *"id chapter book source src reference references human systems".split())
)


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """The texts of a row and its line number."""

    number: int
    source: Any
    references: Mapping[str, Any]
    """Texts by translator, or by number if translators have no names."""
    systems: Mapping[str, Any]
    document: str = ""
    book: str = ""
    is_document: bool = False
    unsegmented: Mapping[str, str] = field(default_factory=dict)
    """Texts of a whole document without segments."""
    has_names: bool = False
    """Whether the references have names."""


def normalize_column_name(name: str) -> str:
    """The canonical spelling of a column: "Doc ID" is doc_id."""
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())


def parse_row(values: Mapping[str, Any], number: int, file: str) -> CorpusRow:
    """Parse a row with the known column names."""
    place = f"Line {number} of {file}"
    values = {
        normalize_column_name(name) if normalize_column_name(name) in _NAMES else name: value
        for name, value in values.items()
    }
    systems = values.get("systems", {})
    if not isinstance(systems, dict):
        raise InputError(f"{place}: systems is not an object of texts by the names of systems.", field="systems")
    unparted = values.get("document_systems") or {}
    if not isinstance(unparted, dict) or not all(isinstance(text, str) for text in unparted.values()):
        raise InputError(
            f"{place}: document_systems is not an object of whole texts by the names of systems.",
            field="document_systems",
        )
    systems = {name: values[name] for name in _OUTPUT_COLUMNS if name in values} | systems
    source = values.get("source", values.get("src"))
    whole = any(isinstance(text, list) for text in (source, values.get("reference"), *systems.values()))
    ids = (*DOCUMENT_COLUMNS, "id", "chapter") if whole else DOCUMENT_COLUMNS
    references, named = _references(values, place, whole=whole)
    return CorpusRow(
        number,
        source,
        references,
        systems,
        next((str(values[name]) for name in ids if values.get(name) is not None), ""),
        str(values.get("book", "")),
        whole,
        unparted,
        named,
    )


def number_references(texts: Iterable[Any]) -> dict[str, Any]:
    """Name references by their position."""
    return {str(number): text for number, text in enumerate(texts, 1)}


def _references(values: Mapping[str, Any], place: str, *, whole: bool) -> tuple[Mapping[str, Any], bool]:
    """The references, and whether they have names."""
    if "reference" in values and "references" in values:
        raise InputError(f"{place} has both reference and references: use one of them.", field="reference")
    if "reference" in values:
        return number_references([values["reference"]]), False
    several = values.get("references", values.get("human", []))
    named = isinstance(several, dict)
    found = number_references(several) if isinstance(several, list) else several if named else None
    if whole and found is not None:
        # Null for a whole document: that translator lacks it.
        found = {name: texts for name, texts in found.items() if texts is not None or not named}
    if found is None or (whole and not all(isinstance(one, list) for one in found.values())):
        what = "a list of lists, one for each translation" if whole else "a list of texts"
        raise InputError(f"{place}: references is not {what}.", field="references")
    return found, named


def group_documents(rows: Iterable[CorpusRow], file: str) -> Iterator[RawDocument]:
    """The documents of a file, from rows of either kind."""
    run: list[CorpusRow] = []
    ended: dict[str, int] = {}
    for row in rows:
        if row.is_document:
            yield _document_from_row(row, file)
            continue
        if run and row.document not in ("", run[0].document):
            yield _document_from_rows(run, file)
            ended[run[0].document] = run[-1].number
            run = []
        if row.document in ended:
            raise InputError(
                f"Line {row.number} of {file} returns to document {row.document!r}, whose rows ended at line "
                f"{ended[row.document]}. Keep the rows of a document together, in reading order.",
                field="document",
            )
        run.append(row)
    if run:
        yield _document_from_rows(run, file)


def _document_from_row(row: CorpusRow, file: str) -> RawDocument:
    """The document of a row that is a whole document."""
    place = f"Line {row.number} of {file}"

    def lines(texts: Any, what: str) -> TextLines:
        if not isinstance(texts, list):
            raise InputError(f"{place}: {what} is not a list, and other texts of this document are.", field="row")
        checked = tuple(_text(text, f"{place}: {what}, segment {at}") for at, text in enumerate(texts, 1))
        return TextLines(file, checked, (row.number,) * len(texts))

    return RawDocument(
        row.document or f"line {row.number}",
        place,
        {name: lines(texts, f"system {name!r}") for name, texts in row.systems.items()},
        tuple(lines(texts, f"reference {name}") for name, texts in row.references.items()),
        lines(row.source, "the source") if row.source is not None else None,
        row.book,
        row.document,
        tuple(row.references) if row.has_names else (),
    )


def _document_from_rows(rows: Sequence[CorpusRow], file: str) -> RawDocument:
    """The document of rows that are its segments."""
    first = rows[0]
    numbers = tuple(row.number for row in rows)
    for row in rows:
        if differing := sorted(row.systems.keys() ^ first.systems.keys()):
            raise InputError(
                f"Line {row.number} of {file}: only one of this line and line {first.number} has an output of system "
                f"{differing[0]!r}. Every row needs an output of every system.",
                field="systems",
            )
        if (row.source is None) != (first.source is None):
            raise InputError(
                f"Line {row.number} of {file}: only one of this line and line {first.number} has a source.",
                field="source",
            )

    def lines(texts: Iterable[Any], what: str) -> TextLines:
        placed = zip(texts, numbers, strict=True)
        return TextLines(file, tuple(_text(one, f"Line {at} of {file}: {what}") for one, at in placed), numbers)

    with_references = [row for row in rows if row.references]
    if inconsistent := next((row for row in with_references if row.has_names != with_references[0].has_names), None):
        raise InputError(
            f"Line {inconsistent.number} of {file}: the references have names only here or only in line "
            f"{with_references[0].number}. Name them all, or none.",
            field="references",
        )
    names = tuple(dict.fromkeys(name for row in rows for name in row.references))
    return RawDocument(
        first.document or "1",
        f"Line {first.number} of {file}",
        {name: lines((row.systems[name] for row in rows), f"system {name!r}") for name in first.systems},
        tuple(lines((row.references.get(name) for row in rows), "the reference") for name in names),
        lines((row.source for row in rows), "the source") if first.source is not None else None,
        first.book,
        first.document,
        names if any(row.has_names for row in rows) else (),
    )


def _text(value: object, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f"{what} is not a text but {str(value)[:40]!r}.", field="text")
    return value

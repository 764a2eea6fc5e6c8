"""Tables of names, for spreadsheets: one entity a row, or two columns (three with a note) without a heading.

A cell with several values separates them by semicolons; a semicolon or backslash of a value follows a backslash. A
source form that is not the full name is followed by its role, `阿德 [nickname]`, and a variant by its count,
`Rhodes (12)`, with a question mark if it may belong to something else, `Rose (2?)`.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import regex

from ape.errors import InputError
from ape.files.spreadsheet_cells import escape_formula, unescape_formula
from ape.ledger.entity import Entity, EntityKind, EntityStatus, FormRole, Gender, SourceForm, Variant
from ape.ledger.files.entry import FIELD, NumberedEntity, entity_from_glossary, parse_choice, refuse

COLUMNS = (
    "id", "kind", "source", "target", "other source forms", "short forms", "variants", "gender", "count", "status",
    "note", "aliases", "first", "last",
)  # fmt: skip
# Headings of other tools, as they are spelt in lower case.
_HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "src": "source", "source term": "source", "term": "source", "original": "source", "原文": "source",
        "dst": "target", "target term": "target", "translation": "target", "rendering": "target", "译文": "target",
        "info": "note", "notes": "note", "comment": "note", "备注": "note",
    }
)  # fmt: skip
_PATTERN_HEADINGS = frozenset({"regex", "regexp", "pattern", "regular expression"})
_ROLE = regex.compile(rf"^(?P<text>.*\S)\s*\[(?P<role>{'|'.join(FormRole)})\]$", regex.DOTALL)
_COUNTED = regex.compile(r"^(?P<text>.*\S)\s*\((?P<count>\d{1,9})(?P<doubt>\??)\)$", regex.DOTALL)
_FALSE = frozenset({"", "0", "false", "no"})


def write_table(entities: Iterable[Entity], *, delimiter: str) -> str:
    """The table with a heading; a byte order mark is for the caller."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_cells, entities))
    return text.getvalue()


def read_table(text: str, path: str) -> Iterator[NumberedEntity]:
    """The entities of a table, with or without a heading, between commas, semicolons or tabs."""
    first_line = text.partition("\n")[0]
    delimiter = max("\t,;", key=first_line.count)
    rows = _rows(text, path, delimiter)
    heading = next(rows, None)
    if heading is None:
        return
    names = [_HEADINGS.get(cell.strip().lower(), cell.strip().lower()) for cell in heading[1]]
    if "source" in names or "id" in names:
        _check_heading(names, heading[1], path)
        for number, cells in rows:
            entity = _entity(_row(names, cells, number, path), number, path)
            if not {"id", "gender", "kind"}.intersection(names):
                described = entity_from_glossary(entity.source_forms[0].text, entity.target, entity.note)
                entity = replace(entity, kind=described.kind, gender=described.gender)
            yield NumberedEntity(f"Line {number}", entity)
        return
    for number, cells in (heading, *rows):
        yield NumberedEntity(f"Line {number}", _pair(cells, number, path))


def _rows(text: str, path: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, with the numbers of the lines they begin on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise refuse(path, f"Line {line}", f"it can't be read: {error}. Check its quotation marks.") from error


def _check_heading(names: Sequence[str], cells: Sequence[str], path: str) -> None:
    for name in _PATTERN_HEADINGS.intersection(names):
        raise refuse(path, "Line 1", f"there is a column {name!r}. {PATTERN_REFUSED}")
    known = (*COLUMNS, "case_sensitive")
    if unknown := [cell.strip() for cell, name in zip(cells, names, strict=True) if name and name not in known]:
        named = ", ".join(map(repr, unknown[:5]))
        raise refuse(path, "Line 1", f"unknown columns: {named}. The columns are: {', '.join(COLUMNS)}.")
    if twice := [name for name, count in Counter(filter(None, names)).items() if count > 1]:
        raise refuse(path, "Line 1", f"there are two columns {twice[0]!r}.")
    for name in ("source", "target"):
        if name not in names:
            raise refuse(path, "Line 1", f"there is no column {name!r}.")


PATTERN_REFUSED = "Regular expressions are not supported. Write each form as it stands in the text."


def _row(names: Sequence[str], cells: Sequence[str], number: int, path: str) -> dict[str, str]:
    if len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
        raise refuse(
            path, f"Line {number}", f"there are {len(cells)} cells under {len(names)} columns. Check its separators."
        )
    row = {name: unescape_formula(cell.strip()) for name, cell in zip(names, cells, strict=False) if name}
    return {name: row.get(name, "") for name in COLUMNS}


def _pair(cells: Sequence[str], number: int, path: str) -> Entity:
    cells = [cell.strip() for cell in cells]
    if not 2 <= len(cells) <= 3:
        raise refuse(
            path,
            f"Line {number}",
            f"there are {len(cells)} cells. Without a heading, a line is a source, a rendering and perhaps a note.",
        )
    if not (cells[0] and cells[1]):
        raise refuse(path, f"Line {number}", "the source or the rendering is empty.")
    return entity_from_glossary(cells[0], cells[1], "".join(cells[2:]))


def _cells(entity: Entity) -> tuple[str | int, ...]:
    first, *others = entity.source_forms
    cells = (
        entity.id,
        entity.kind,
        _join([_format_form(first)]),
        entity.target,
        _join(map(_format_form, others)),
        _join(entity.short_forms),
        _join(f"{one.text} ({one.count}{'' if one.firm else '?'})" for one in entity.variants),
        entity.gender,
        entity.count,
        entity.status,
        entity.note,
        _join(entity.aliases),
        entity.first,
        entity.last,
    )
    return tuple(escape_formula(cell) if isinstance(cell, str) else cell for cell in cells)


def _entity(row: Mapping[str, str], number: int, path: str) -> Entity:
    place = f"Line {number}"
    forms = tuple(map(_parse_form, (*_split(row["source"]), *_split(row["other source forms"]))))
    if not row["source"]:
        raise refuse(path, place, "the source is empty. Write the name as the source has it.")
    count = row["count"] or "0"
    if not (count.isdecimal() and len(count) < 10):
        raise refuse(path, place, f"the count is {count[:60]!r}, which is not a whole number.")
    gender = row["gender"] or Gender.UNKNOWN
    # A person wrote a row without a status.
    status = row["status"] or EntityStatus.CONFIRMED
    parsed_gender = parse_choice(Gender, gender, path=path, place=place, name="gender")
    kind = row["kind"] or (EntityKind.TERM if parsed_gender is Gender.UNKNOWN else EntityKind.PERSON)
    return Entity(
        id=row["id"],
        kind=parse_choice(EntityKind, kind, path=path, place=place, name="kind"),
        source_forms=forms,
        target=row["target"],
        short_forms=_split(row["short forms"]),
        variants=tuple(map(_parse_variant, _split(row["variants"]))),
        gender=parsed_gender,
        aliases=_split(row["aliases"]),
        count=int(count),
        first=row["first"],
        last=row["last"],
        status=parse_choice(EntityStatus, status, path=path, place=place, name="status"),
        note=row["note"],
    )


def _format_form(form: SourceForm) -> str:
    plain = form.role is FormRole.FULL and not _ROLE.match(form.text)
    return form.text if plain else f"{form.text} [{form.role}]"


def _parse_form(text: str) -> SourceForm:
    match = _ROLE.match(text)
    return SourceForm(match["text"], FormRole(match["role"])) if match else SourceForm(text)


def _parse_variant(text: str) -> Variant:
    match = _COUNTED.match(text)
    return Variant(match["text"], int(match["count"]), firm=not match["doubt"]) if match else Variant(text, 0)


def _join(values: Iterable[str]) -> str:
    return "; ".join(value.replace("\\", "\\\\").replace(";", "\\;") for value in values)


def _split(cell: str) -> tuple[str, ...]:
    """The values of a cell; a backslash before any other character is a backslash."""
    values = [""]
    escaped = False
    for character in cell:
        if escaped:
            values[-1] += character if character in ";\\" else "\\" + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ";":
            values.append("")
        else:
            values[-1] += character
    values[-1] += "\\" * escaped
    return tuple(value.strip() for value in values if value.strip())


def refuse_patterns(row: Mapping[str, object], path: str, place: str) -> None:
    """Raise InputError for an entry of a glossary that is a regular expression: it is never run."""
    for name in _PATTERN_HEADINGS.intersection(map(str, row)):
        if str(row[name] or "").strip().lower() not in _FALSE:
            raise refuse(path, place, f"the entry is a regular expression ({name!r}). {PATTERN_REFUSED}")


def no_entries(path: str) -> InputError:
    """The error for a file without entries."""
    return InputError(f"{path} is empty. Give each name a line with its source and its rendering.", field=FIELD)

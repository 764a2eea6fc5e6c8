"""Read and write files of names: which format a file has, by its suffix and its content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ape.errors import InputError
from ape.files.atomic import write_text_atomic
from ape.files.rows import read_utf8
from ape.ledger.entity import Ledger
from ape.ledger.files.entry import FIELD, NumberedEntity, check_entities, check_languages_of_names
from ape.ledger.files.json_ledger import (
    parse_json,
    read_json_glossary,
    read_json_ledger,
    write_json_glossary,
    write_json_ledger,
)
from ape.ledger.files.table import no_entries, read_table, write_table
from ape.ledger.files.tbx import read_tbx, write_tbx
from ape.ledger.files.term_list import ARROW, read_term_list, write_term_list

# A book has thousands of names at most; a file of this size is not a list of names.
MAX_BYTES = 16 * 1024 * 1024
MAX_NAMES = 20_000


@dataclass(frozen=True, slots=True)
class NameFormat:
    """A format of files of names. A lossless one keeps everything that a person can change."""

    title: str
    suffixes: tuple[str, ...]
    lossless: bool


NAME_FORMATS = MappingProxyType(
    {
        "csv": NameFormat("table for spreadsheets", (".csv",), lossless=True),
        "tsv": NameFormat("table, separated by tabs", (".tsv", ".tab"), lossless=True),
        "json": NameFormat("everything, with evidence and conflicts", (".json",), lossless=True),
        "glossary-json": NameFormat("glossary of LinguaGacha and AiNiee", (), lossless=False),
        "list": NameFormat("source->target #note", (".txt",), lossless=False),
        "tbx": NameFormat("term base exchange, ISO 30042", (".tbx", ".xml"), lossless=False),
    }
)


def write_names(ledger: Ledger, path: Path, *, format: str | None = None) -> None:
    """Write the ledger in the format, or in that of the suffix; an existing file is replaced once all is written."""
    write_text_atomic(path, [format_names(ledger, format or _format_by_suffix(path))])


def format_names(ledger: Ledger, format: str) -> str:
    """The text of a file of names."""
    match format:
        case "csv":
            # Excel reads UTF-8 only with a byte order mark.
            return "\ufeff" + write_table(ledger.entities, delimiter=",")
        case "tsv":
            return write_table(ledger.entities, delimiter="\t")
        case "json":
            return write_json_ledger(ledger)
        case "glossary-json":
            return write_json_glossary(ledger.entities)
        case "list":
            return write_term_list(ledger.entities)
        case "tbx":
            return "".join(write_tbx(ledger))
    raise InputError(f"There is no format {format!r}. Choose one of: {', '.join(NAME_FORMATS)}.", field="format")


def check_names_suffix(path: Path, format: str | None = None) -> None:
    """Raise InputError if the suffix does not tell the format, before any work is done."""
    if format is None:
        _format_by_suffix(path)


def _format_by_suffix(path: Path) -> str:
    for name, known in NAME_FORMATS.items():
        if path.suffix.lower() in known.suffixes:
            return name
    suffixes = ", ".join(suffix for known in NAME_FORMATS.values() for suffix in known.suffixes)
    raise InputError(f"The suffix of {path.name} tells no format. Use one of: {suffixes}.", field=FIELD)


def read_names(path: Path, *, source_language: str = "", target_language: str = "") -> Ledger:
    """Read a file of names in any format; the languages are those of the book.

    Raises InputError, with the line and the remedy, for what can't be read or can't be meant.
    """
    if path.is_file() and path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path.name} is too large for a file of names: the limit is 16 MiB.", field=FIELD)
    text = read_utf8(path, field=FIELD)
    if "\x00" in text:
        raise InputError(f"{path.name} is not text. Save it as UTF-8.", field=FIELD)
    return parse_names(text, path.name, source_language=source_language, target_language=target_language)


def parse_names(text: str, name: str, *, source_language: str = "", target_language: str = "") -> Ledger:
    """Parse the text of a file of that name; see `read_names`."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise no_entries(name)
    ledger = _parse(text, name, source_language, target_language)
    if len(ledger.entities) > MAX_NAMES:
        raise InputError(
            f"{name} has {len(ledger.entities):,} names; the limit is {MAX_NAMES:,}. Leave out those that are not in "
            "the book.",
            field=FIELD,
        )
    check_languages_of_names(ledger, name, source_language=source_language, target_language=target_language)
    return replace(
        ledger,
        source_language=source_language or ledger.source_language,
        target_language=target_language or ledger.target_language,
    )


def _parse(text: str, name: str, source_language: str, target_language: str) -> Ledger:
    start = text.lstrip()
    if start[0] in "[{":
        return parse_names_json(parse_json(text, name), name)
    if start[0] == "<":
        ledger, entities = read_tbx(
            start.encode(), name, source_language=source_language, target_language=target_language
        )
        return replace(ledger, entities=tuple(entities))
    lines = (line for line in start.split("\n") if line.strip() and (not line.startswith(("#", "//")) or "\t" in line))
    first = next(lines, None)
    if first is None:
        raise no_entries(name)
    is_list = ARROW.search(first) and not ("," in first and name.lower().endswith(".csv")) and "\t" not in first
    found: Any = read_term_list(text, name) if is_list else read_table(text, name)
    return Ledger("", "", check_entities(found, name))


def parse_names_json(content: Any, name: str) -> Ledger:
    """The ledger of parsed JSON: our own, or a glossary of another tool."""
    if isinstance(content, dict) and ("entities" in content or content.get("format") == "ape-names"):
        ledger, found = read_json_ledger(content, name)
        if not found:
            return ledger
        return replace(ledger, entities=check_entities(found, name))
    if not isinstance(content, dict | list):
        raise InputError(f"{name} is not a list of names.", field=FIELD)
    entries: list[NumberedEntity] = list(read_json_glossary(content, name))
    return Ledger("", "", check_entities(entries, name))

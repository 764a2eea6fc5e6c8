"""Lists of names as translators of web novels keep them: `source->target #note`, one entry a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

from ape.errors import InputError
from ape.files.rows import split_lines
from ape.ledger.entity import Entity, EntityStatus
from ape.ledger.files.entry import FIELD, NumberedEntity, entity_from_glossary, glossary_note, refuse

ARROW = regex.compile(r"->|=>|→")
_NOTE = regex.compile(r"\s#|^#")


def read_term_list(text: str, path: str) -> Iterator[NumberedEntity]:
    """The entries of a list; lines that begin with # or // are comments."""
    for number, line in split_lines(text):
        line = line.strip()
        if line.startswith(("#", "//")):
            continue
        parts = ARROW.split(line, maxsplit=1)
        if len(parts) != 2:
            raise refuse(path, f"Line {number}", f"{line[:60]!r} has no arrow. Write: source->target #note")
        target, *note = _NOTE.split(parts[1], maxsplit=1)
        source, target = parts[0].strip(), target.strip()
        if not (source and target):
            raise refuse(path, f"Line {number}", "the source or the rendering is empty. Write: source->target #note")
        yield NumberedEntity(f"Line {number}", entity_from_glossary(source, target, "".join(note).strip()))


def write_term_list(entities: Iterable[Entity]) -> str:
    """The entries that are not ignored and have a rendering; other source forms and variants are lost."""
    return "".join(
        f"{_line(entity)}\n" for entity in entities if entity.target and entity.status is not EntityStatus.IGNORED
    )


def _line(entity: Entity) -> str:
    source, target, note = (
        " ".join(text.split()) for text in (entity.source_forms[0].text, entity.target, glossary_note(entity))
    )
    if ARROW.search(source) or source.startswith(("#", "//")) or _NOTE.search(target):
        raise InputError(
            f"{source!r} -> {target!r} can't be written into a list with arrows and #notes. Choose another format.",
            field=FIELD,
        )
    return f"{source}->{target} #{note}" if note else f"{source}->{target}"

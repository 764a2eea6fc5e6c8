"""Ledgers in JSON, without loss, and the JSON glossaries of LinguaGacha and AiNiee."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ape.errors import InputError
from ape.files.rows import describe_validation_error
from ape.ledger.entity import (
    Entity,
    EntityKind,
    EntityStatus,
    FormRole,
    Gender,
    GenderEvidence,
    Ledger,
    LedgerConflict,
    SourceForm,
    Variant,
)
from ape.ledger.files.entry import FIELD, NumberedEntity, entity_from_glossary, glossary_note, refuse
from ape.ledger.files.table import refuse_patterns

_SOURCES = ("src", "source", "term", "original")
_TARGETS = ("dst", "target", "translation", "wording")
_NOTES = ("info", "note", "notes", "comment")
_OTHER_FIELDS = frozenset({"case_sensitive", "regex", "regexp", "pattern", "count", "type"})

Text = Annotated[str, Field(max_length=1_000)]
Number = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceFormJson(_Strict):
    """A wording of the source."""

    text: Annotated[str, Field(min_length=1, max_length=1_000)]
    role: FormRole = FormRole.FULL


class VariantJson(_Strict):
    """A wording of the translation."""

    text: Annotated[str, Field(min_length=1, max_length=1_000)]
    count: Number = 0
    firm: bool = True


class GenderEvidenceJson(_Strict):
    """An observation about the gender."""

    gender: Gender
    cue: Text
    paragraph: Text
    weight: Annotated[float, Field(allow_inf_nan=False)]


class EntityJson(_Strict):
    """An entity of a ledger."""

    id: Text
    kind: EntityKind = EntityKind.TERM
    source_forms: Annotated[tuple[SourceFormJson, ...], Field(min_length=1)]
    target: Text = ""
    short_forms: tuple[Text, ...] = ()
    variants: tuple[VariantJson, ...] = ()
    gender: Gender = Gender.UNKNOWN
    evidence: tuple[GenderEvidenceJson, ...] = ()
    aliases: tuple[Text, ...] = ()
    count: Number = 0
    first: Text = ""
    last: Text = ""
    status: EntityStatus = EntityStatus.CONFIRMED
    note: Annotated[str, Field(max_length=10_000)] = ""

    def to_entity(self) -> Entity:
        """The entity as the ledger has it."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        values["source_forms"] = tuple(SourceForm(form.text, form.role) for form in self.source_forms)
        values["variants"] = tuple(Variant(**dict(variant)) for variant in self.variants)
        values["evidence"] = tuple(GenderEvidence(**dict(one)) for one in self.evidence)
        return Entity(**values)


class ConflictJson(_Strict):
    """Two statements about one entity that can't both be right."""

    entity: Text
    field: Text
    values: tuple[Text, ...]
    reason: Text


class LedgerJson(_Strict):
    """A ledger: the names of a book."""

    format: Literal["ape-names"] = "ape-names"
    version: Literal[1] = 1
    source_language: Text = ""
    target_language: Text = ""
    entities: tuple[EntityJson, ...] = ()
    conflicts: tuple[ConflictJson, ...] = ()
    notes: tuple[Text, ...] = ()


def ledger_to_json(ledger: Ledger) -> dict[str, Any]:
    """The ledger as JSON values."""
    return {"format": "ape-names", "version": 1, **asdict(ledger)}


def write_json_ledger(ledger: Ledger) -> str:
    """The ledger in JSON, all of it."""
    return json.dumps(ledger_to_json(ledger), ensure_ascii=False, indent=1) + "\n"


def read_json_ledger(content: Any, path: str) -> tuple[Ledger, list[NumberedEntity]]:
    """The ledger of parsed JSON, and its entities with their places for further checks."""
    for number, row in enumerate(content.get("entities") or (), 1) if isinstance(content, dict) else ():
        if isinstance(row, dict):
            refuse_patterns(row, path, f"Entry {number}")
    try:
        parsed = LedgerJson.model_validate(content)
    except ValidationError as error:
        raise refuse(path, "", f"{describe_validation_error(error)}.") from error
    entities = [NumberedEntity(f"Entry {n}", entry.to_entity()) for n, entry in enumerate(parsed.entities, 1)]
    conflicts = tuple(LedgerConflict(**dict(one)) for one in parsed.conflicts)
    return Ledger(parsed.source_language, parsed.target_language, conflicts=conflicts, notes=parsed.notes), entities


def write_json_glossary(entities: Iterable[Entity]) -> str:
    """The list of objects with `src`, `dst` and `info` that LinguaGacha and AiNiee read; one for each source form."""
    rows = [
        {"src": form.text, "dst": entity.target, "info": glossary_note(entity)}
        for entity in entities
        if entity.target and entity.status is not EntityStatus.IGNORED
        for form in entity.source_forms
        if form is entity.source_forms[0] or form.role is FormRole.FULL
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


def read_json_glossary(content: Any, path: str) -> Iterator[NumberedEntity]:
    """The entries of a list of objects, or of one object with renderings by source."""
    if isinstance(content, dict):
        content = [{"src": source, "dst": target} for source, target in content.items()]
    for number, row in enumerate(content, 1):
        place = f"Entry {number}"
        if not isinstance(row, dict):
            raise refuse(path, place, "it is not an object with src and dst.")
        refuse_patterns(row, path, place)
        known = {*_SOURCES, *_TARGETS, *_NOTES, *_OTHER_FIELDS}
        if unknown := sorted(map(str, row.keys() - known)):
            raise refuse(path, place, f"unknown field {unknown[0]!r}. An entry has src, dst and info.")
        source, target, note = (_text(row, names, path, place) for names in (_SOURCES, _TARGETS, _NOTES))
        if not source:
            raise refuse(path, place, "src is empty. Write the name as the source has it.")
        if target:  # tools list untranslated terms too
            yield NumberedEntity(place, entity_from_glossary(source, target, note))


def _text(row: dict[str, Any], names: tuple[str, ...], path: str, place: str) -> str:
    value = next((row[name] for name in names if name in row), "")
    if not isinstance(value, str | None):
        raise refuse(path, place, f"{names[0]} is {json.dumps(value)[:60]}, which is not a text.")
    return (value or "").strip()


def parse_json(text: str, path: str) -> Any:
    """The JSON of a file; InputError says where it ends to be JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise refuse(path, f"Line {error.lineno}", f"it is not JSON: {error.msg}.") from error
    except RecursionError as error:
        raise InputError(f"{path} is not a list of names: it is nested too deeply.", field=FIELD) from error

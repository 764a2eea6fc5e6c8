"""Glossaries as files of names: source terms with one wording each, for the command line and the service alike."""

from __future__ import annotations

import json
from pathlib import Path

from ape.errors import InputError
from ape.ledger.entity import EntityStatus, Ledger
from ape.ledger.files.formats import parse_names, read_names


def read_glossary(path: Path) -> dict[str, str]:
    """The terms of a CSV, TSV, JSON, TBX or list file with their wordings."""
    try:
        if path.suffix.lower() == ".json" and (plain := _plain_object(path.read_text(encoding="utf-8-sig"))):
            return plain
        return _entries(read_names(path), path.name)
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8. Save it as UTF-8.", field="glossary") from error
    except InputError as error:
        raise InputError(str(error), field="glossary") from error


def parse_glossary(text: str, name: str = "glossary") -> dict[str, str]:
    """The same from the text of such a file."""
    try:
        return _plain_object(text) or _entries(parse_names(text, name), name)
    except InputError as error:
        raise InputError(str(error), field="glossary") from error


def _plain_object(text: str) -> dict[str, str]:
    """The entries of a JSON object of terms and wordings; empty for anything else."""
    try:
        content = json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        return {}
    if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
        return {}
    return content


def _entries(ledger: Ledger, name: str) -> dict[str, str]:
    known = [entity for entity in ledger.entities if entity.target and entity.status is not EntityStatus.IGNORED]
    if not known:
        raise InputError(f"{name} has no term with a wording.", field="glossary")
    return {form.text: entity.target for entity in known for form in entity.source_forms[:1]}

"""Trial files in JSON. They name the system of each text, so raters must not see them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ape.errors import InputError
from ape.files.hashing import hash_json, hash_text
from ape.files.rows import describe_validation_error, read_utf8
from eval.human.trial import Trial

TRIAL_FORMAT = "ape-trial/1"
_LATER_FIELDS = frozenset({"spans", "per_rater"})
_SURROGATE = re.compile("[\ud800-\udfff]")


def assign_ids(trial: Trial) -> Trial:
    """Replace the ids by digests of the content, which reveal nothing about the items."""
    numbered = _numbered(trial)
    digest = _digest(numbered)
    names = [_item_id(digest, place) for place in range(len(trial.items))]
    items = tuple(
        replace(item, id=names[int(item.id)], repeats=names[int(item.repeats)] if item.repeats else "")
        for item in numbered.items
    )
    return replace(trial, id=_name("t", digest, 16), items=items)


def trial_to_json(trial: Trial) -> str:
    """Serialise a trial."""
    text = json.dumps({"format": TRIAL_FORMAT, **_values(trial)}, ensure_ascii=False, indent=1) + "\n"
    # Lone surrogates, which a model's JSON may contain, can't be encoded as UTF-8.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def trial_from_json(text: str, *, place: str = "The trial") -> Trial:
    """Parse a trial. Raises InputError if it is invalid or was changed."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON, so it is not a trial file.", field="trial") from error
    if not isinstance(values, dict) or values.pop("format", None) != TRIAL_FORMAT:
        raise InputError(f"{place} is not a trial file.", field="trial")
    try:
        trial = _adapter().validate_python(values)
    except ValidationError as error:
        raise InputError(f"{place} is not a valid trial: {describe_validation_error(error)}.", field="trial") from error
    if (wrong := next(_inconsistencies(trial), "")) or assign_ids(trial) != trial:
        raise InputError(
            f"{place} was modified: {wrong or 'its content does not match its id'}. Restore the original "
            "file, or make the trial again: votes apply only to the texts that were shown.",
            field="trial",
        )
    return trial


def read_trial(path: Path) -> Trial:
    """Read a trial file."""
    return trial_from_json(read_utf8(path, field="trial"), place=str(path))


def write_trial(trial: Trial, path: Path) -> None:
    """Write a trial file, readable only by its owner."""
    path.write_text(trial_to_json(trial), encoding="utf-8")
    path.chmod(0o600)


@cache
def _adapter() -> TypeAdapter[Trial]:
    return TypeAdapter(Trial)


def _numbered(trial: Trial) -> Trial:
    """The trial without its id, with items named by their index."""
    places = {item.id: str(place) for place, item in enumerate(trial.items)}
    items = tuple(
        replace(item, id=places[item.id], repeats=places[item.repeats] if item.repeats else "") for item in trial.items
    )
    return replace(trial, id="", items=items)


def _digest(trial: Trial) -> str:
    return hash_json(_values(trial), errors="surrogatepass")


def _values(trial: Trial) -> dict[str, Any]:
    """All fields; those of later versions only if they are set, so that the ids of earlier trials stay valid."""
    return {name: value for name, value in asdict(trial).items() if name not in _LATER_FIELDS or value is not None}


def _item_id(digest: str, place: int) -> str:
    # Raters see 15 digits of the digest, too few to derive the other ids.
    return _name("i", hash_text(f"{digest}|{place}"), 12)


def _name(letter: str, digest: str, length: int) -> str:
    """A letter and part of a digest; without the letter a spreadsheet reads 649348015385 or 12e3 as a number."""
    return f"{letter}{digest}"[:length]


def _inconsistencies(trial: Trial) -> Iterator[str]:
    """Describe inconsistencies between items and passages."""
    passages = {passage.id: passage for passage in trial.passages}
    ids = {item.id for item in trial.items}
    if len(ids) < len(trial.items) or len(passages) < len(trial.passages):
        yield "two of its items or passages have the same id"
    for item in trial.items:
        if item.passage not in passages:
            yield f"item {item.id} has an unknown passage"
        elif {len(text) for text in item.texts} != {passages[item.passage].paragraphs}:
            yield f"the texts of item {item.id} and its passage differ in the number of paragraphs"
        if item.repeats and item.repeats not in ids:
            yield f"item {item.id} repeats an unknown item"

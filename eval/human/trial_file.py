"""A trial as a JSON file. It holds the key to who wrote what, so it is not for raters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ape.errors import InputError
from ape.files.hashing import hash_json, hash_text
from ape.files.rows import describe_validation_error
from eval.human.trial import Trial

TRIAL_FORMAT = "ape-trial/1"
_SURROGATE = re.compile("[\ud800-\udfff]")


def assign_ids(trial: Trial) -> Trial:
    """The trial with ids that follow from all that is in it; those of items tell nothing about them.

    Items are then named by their places, and what they repeat by its place.
    """
    numbered = _numbered(trial)
    digest = _digest(numbered)
    names = [_item_id(digest, place) for place in range(len(trial.items))]
    items = tuple(
        replace(item, id=names[int(item.id)], repeats=names[int(item.repeats)] if item.repeats else "")
        for item in numbered.items
    )
    return replace(trial, id=_name("t", digest, 16), items=items)


def trial_to_json(trial: Trial) -> str:
    """The whole trial."""
    text = json.dumps({"format": TRIAL_FORMAT, **asdict(trial)}, ensure_ascii=False, indent=1) + "\n"
    # Half of a surrogate pair, which a model's JSON may hold, has no UTF-8 of its own.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half.group()):04x}", text)


def trial_from_json(text: str, *, place: str = "The trial") -> Trial:
    """The trial. Raises InputError where it is none, or not as it was made."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON: is it a file of `ape ab make`?", field="trial") from error
    if not isinstance(values, dict) or values.pop("format", None) != TRIAL_FORMAT:
        raise InputError(f"{place} is no trial. `ape ab make … -o trial.json` makes one.", field="trial")
    try:
        trial = _adapter().validate_python(values)
    except ValidationError as error:
        raise InputError(
            f"{place} is no whole trial: {describe_validation_error(error)}.", field="trial"
        ) from error
    if (wrong := next(_slips(trial), "")) or assign_ids(trial) != trial:
        raise InputError(
            f"{place} is not as it was made: {wrong or 'its content was changed'}. Make the trial again, or bring "
            "back the file: votes belong to what was shown.",
            field="trial",
        )
    return trial


def read_trial(path: Path) -> Trial:
    """The trial of a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no trial: it is not UTF-8.", field="trial") from error
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", field="trial") from error
    return trial_from_json(text, place=str(path))


def write_trial(trial: Trial, path: Path) -> None:
    """Write it, for the eyes of whoever runs the test."""
    path.write_text(trial_to_json(trial), encoding="utf-8")
    path.chmod(0o600)


@cache
def _adapter() -> TypeAdapter[Trial]:
    return TypeAdapter(Trial)


def _numbered(trial: Trial) -> Trial:
    """Without its own id, and its items named by their places."""
    places = {item.id: str(place) for place, item in enumerate(trial.items)}
    items = tuple(
        replace(item, id=places[item.id], repeats=places[item.repeats] if item.repeats else "")
        for item in trial.items
    )
    return replace(trial, id="", items=items)


def _digest(trial: Trial) -> str:
    return hash_json(asdict(trial), errors="surrogatepass")


def _item_id(digest: str, place: int) -> str:
    # Raters see 15 digits of the digest, which is not enough to work out the others.
    return _name("i", hash_text(f"{digest}|{place}"), 12)


def _name(letter: str, digest: str, length: int) -> str:
    """Some of a digest after a letter: without it a spreadsheet takes 649348015385 or 12e3 for a number."""
    return f"{letter}{digest}"[:length]


def _slips(trial: Trial) -> Iterator[str]:
    """What does not hold together, by name."""
    passages = {passage.id: passage for passage in trial.passages}
    ids = {item.id for item in trial.items}
    if len(ids) < len(trial.items) or len(passages) < len(trial.passages):
        yield "two of its items or passages have the same id"
    for item in trial.items:
        if item.passage not in passages:
            yield f"item {item.id} is of a passage that is not there"
        elif {len(text) for text in item.texts} != {passages[item.passage].paragraphs}:
            yield f"the texts of item {item.id} have not as many paragraphs as the passage"
        if item.repeats and item.repeats not in ids:
            yield f"item {item.id} repeats one that is not there"

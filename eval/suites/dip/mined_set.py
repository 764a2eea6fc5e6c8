"""A mined set: passages at which systems failed, stored as JSON lines with a manifest first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from ape.errors import InputError
from ape.files.atomic import write_text_atomic
from ape.files.hashing import hash_text
from ape.files.rows import describe_validation_error

MinedPhenomenon: TypeAlias = Literal["consistency", "connectives", "pronouns"]
MINED_PHENOMENA: tuple[MinedPhenomenon, ...] = ("consistency", "connectives", "pronouns")
MANIFEST_KIND = "dip-mined"
_Text: TypeAlias = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class MinedItem:
    """A passage to translate, and the one feature of its reference that is tested."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: _Text
    phenomenon: MinedPhenomenon
    document: str
    segment: Annotated[int, Field(ge=0)]
    """The index of its first segment in its document."""
    sources: Annotated[tuple[str, ...], Field(min_length=1)]
    references: Annotated[tuple[str, ...], Field(min_length=1)]
    source_context: tuple[str, ...]
    reference_context: tuple[str, ...]
    word: _Text
    """The repeated lemma, the connective, or the pronoun."""
    start: Annotated[int, Field(ge=0)] = 0
    """For connectives and pronouns: the first character in the reference."""
    times: Annotated[int, Field(ge=1)] = 1
    """How often the reference has the word."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """What the failing systems wrote instead, by system; empty if they wrote nothing."""


@dataclass(frozen=True, slots=True)
class MinedSet:
    """Items in corpus order, and how they were mined."""

    items: tuple[MinedItem, ...]
    manifest: Mapping[str, Any]

    def items_of(self, phenomenon: MinedPhenomenon) -> tuple[MinedItem, ...]:
        """The items of one phenomenon."""
        return tuple(item for item in self.items if item.phenomenon == phenomenon)

    @property
    def fingerprint(self) -> str:
        """A hash of the items."""
        return _hash(_lines(self.items))


def write_mined_set(path: Path, mined: MinedSet) -> None:
    """Write the manifest, with a hash of the items, and the items; deterministic."""
    lines = _lines(mined.items)
    manifest = {**mined.manifest, "kind": MANIFEST_KIND, "items": len(lines), "items_sha256": _hash(lines)}
    first = json.dumps(manifest, ensure_ascii=False, sort_keys=True)
    write_text_atomic(path, (f"{line}\n" for line in (first, *lines)), errors="strict")


def read_mined_set(path: Path) -> MinedSet:
    """Read a set; one that was changed after writing is refused."""
    try:
        first, *lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The mined set {path} can't be read: {error}.") from error
    lines = [line for line in lines if line]
    manifest = _manifest(path, first)
    items = tuple(_item(path, number, line) for number, line in enumerate(lines, 2))
    if manifest["items"] != len(lines) or manifest["items_sha256"] != _hash(lines):
        raise InputError(
            f"{path} was changed after it was written: its items do not match its manifest. Mine it again, or get "
            "an unchanged copy."
        )
    known: dict[str, int] = {}
    for number, item in enumerate(items, 2):
        if item.id in known:
            raise InputError(f"Lines {known[item.id]} and {number} of {path} have the same id, {item.id!r}.")
        known[item.id] = number
    return MinedSet(items, manifest)


def _manifest(path: Path, line: str) -> dict[str, Any]:
    try:
        manifest = json.loads(line)
    except ValueError:
        manifest = None
    if not (isinstance(manifest, dict) and manifest.get("kind") == MANIFEST_KIND and "items_sha256" in manifest):
        raise InputError(f"Line 1 of {path} is not the manifest of a mined set.")
    return manifest


@cache
def _item_adapter() -> TypeAdapter[MinedItem]:
    return TypeAdapter(MinedItem)


def _item(path: Path, number: int, line: str) -> MinedItem:
    try:
        item = _item_adapter().validate_json(line)
    except ValidationError as error:
        message = describe_validation_error(error, root="the line")
        raise InputError(f"Line {number} of {path} is not an item of a mined set: {message}.") from error
    if len(item.sources) != len(item.references):
        raise InputError(f"Line {number} of {path} has different numbers of references and sources.")
    return item


def _lines(items: Sequence[MinedItem]) -> list[str]:
    return [json.dumps(asdict(item), ensure_ascii=False, sort_keys=True) for item in items]


def _hash(lines: Sequence[str]) -> str:
    return hash_text("\n".join(lines))

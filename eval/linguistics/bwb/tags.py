"""Parser for one tag of the mark-up: `<PER, T, 1>`, `<P, 1>`, `<O, 1>` or `<Q, 5>`.

A malformed tag is accepted if only one interpretation is possible, with a description of the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import regex

BwbTagKind: TypeAlias = Literal["entity", "pronoun", "omitted", "quotation"]
ENTITY_TYPES = ("PER", "FAC", "GPE", "LOC", "VEH", "ORG")
_KINDS: dict[str, BwbTagKind] = {"P": "pronoun", "O": "omitted", "0": "omitted", "Q": "quotation"}
_FLAGS = {"T": True, "N": False}
_COMMA = regex.compile(r"\s*[,，、]\s*")


@dataclass(frozen=True, slots=True)
class BwbTag:
    """The annotation of the text that a tag opens."""

    kind: BwbTagKind
    entity: str
    type: str = ""
    """For entities, one of ENTITY_TYPES."""
    terminology: bool | None = None
    """None if the annotation does not say."""


def parse_tag(inner: str) -> tuple[BwbTag | None, list[str]]:
    """Parse the text between the angle brackets: the tag (None if ambiguous) and what is wrong with it."""
    fields = _COMMA.split(inner.strip())
    first = fields[0].upper()
    if first in _KINDS and not (first == "0" and len(fields) == 1):
        tag, wrong = _parse_pronoun(_KINDS[first], fields)
    elif first in ENTITY_TYPES:
        tag, wrong = _parse_entity(first, fields)
    else:
        return None, [f"<{inner}> is not a tag: it should begin with one of {', '.join(ENTITY_TYPES)}, P, O or Q"]
    if tag and not wrong and inner != ", ".join(fields):
        wrong = [f"<{inner}> is not spaced as <{', '.join(fields)}>"]
    if fields[0] != first or fields[0] == "0":
        wrong.append(f"<{inner}> should begin with {'O' if first == '0' else first}")
    return tag, wrong


def _parse_pronoun(kind: BwbTagKind, fields: list[str]) -> tuple[BwbTag | None, list[str]]:
    tag_text = f"<{', '.join(fields)}>"
    if len(fields) < 2 or not fields[-1].isdecimal():
        return None, [f"{tag_text} has no entity number"]
    return BwbTag(kind, fields[-1]), [f"{tag_text} has more than an entity number"] * (len(fields) > 2)


def _parse_entity(type_: str, fields: list[str]) -> tuple[BwbTag | None, list[str]]:
    tag_text = f"<{', '.join(fields)}>"
    if not fields[-1].isdecimal():
        return None, [f"{tag_text} has no entity number"]
    flags = [field for field in fields[1:-1] if field in _FLAGS]
    if flags and len(fields) == 3:
        return BwbTag("entity", fields[-1], type_, _FLAGS[flags[0]]), []
    if len(fields) == 2:
        wrong = f"{tag_text} doesn't say whether it is terminology, T or N"
    else:
        wrong = f"{tag_text} has {', '.join(fields[1:-1])!r} where T or N should be"
    return BwbTag("entity", fields[-1], type_, _FLAGS[flags[0]] if flags else None), [wrong]

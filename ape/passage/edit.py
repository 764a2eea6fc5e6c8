"""One change that a post-edit makes to its MT."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EditKind(StrEnum):
    """The category a translator would give an edit."""

    NAME = "name"
    PRONOUN = "pronoun"
    CONNECTIVE = "connective"
    VERB = "verb form"
    NUMBER = "number"
    PUNCTUATION = "punctuation"
    CASING = "casing"
    WORD_CHOICE = "word choice"
    INSERTION = "insertion"
    DELETION = "deletion"
    REORDERING = "reordering"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: `before`, at `mt_span` of the MT, became `after`, at `span` of the post-edit.

    `reason` tells why the ledger of the book made it; it is empty for the edits of a model.
    """

    kind: EditKind
    before: str
    after: str
    mt_span: tuple[int, int]
    span: tuple[int, int]
    reason: str = ""

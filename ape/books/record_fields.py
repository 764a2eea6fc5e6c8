"""Field names of files with one record a paragraph (JSON Lines, TSV)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ape.books.file_pieces import skip_reason

SOURCE_FIELDS = ("source", "src")
TARGET_FIELDS = ("mt", "target", "translation", "tgt")
TEXT_FIELDS = ("text",)

SKIP_NO_TRANSLATION = "no translation to repair"
SKIP_NO_SOURCE = "no source to compare it with"


@dataclass(frozen=True, slots=True)
class RecordFields:
    """The names of a file's fields; one without a `source` has its text alone."""

    target: str
    source: str | None = None

    @classmethod
    def among(cls, names: Sequence[str]) -> RecordFields | None:
        """The fields that matter among all there are, or None where none does."""
        source = _first(SOURCE_FIELDS, names)
        target = _first(TARGET_FIELDS, names) or (None if source else _first(TEXT_FIELDS, names))
        return cls(target, source) if target else None


def _first(wanted: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in wanted if name in names), None)


def pair_skip_reason(source: str | None, target: str, *, bilingual: bool) -> str:
    """The reason not to edit a pair of texts, or ""."""
    if not target.strip():
        return SKIP_NO_TRANSLATION
    if bilingual and not (source or "").strip():
        return SKIP_NO_SOURCE
    return skip_reason(target)


@dataclass(slots=True)
class UniqueIds:
    """Ids that a file gives, each made the only one of its name: "a", "a~2", "a~3"."""

    _seen: set[str] = field(default_factory=set)
    _again: dict[str, int] = field(default_factory=dict)

    def unique(self, wanted: str) -> str:
        """The id, or the next free variant."""
        found = wanted
        while found in self._seen:
            self._again[wanted] = self._again.get(wanted, 1) + 1
            found = f"{wanted}~{self._again[wanted]}"
        self._seen.add(found)
        return found


@dataclass(slots=True)
class ChapterNumbering:
    """Chapters by the value of a field: where it changes, the next one begins."""

    number: int = 0
    title: str = ""
    _begun: bool = False

    def enter(self, title: str) -> None:
        """Enter the chapter that a record names."""
        if self._begun and title != self.title:
            self.number += 1
        self.title, self._begun = title, True

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
    """The names of a file's fields; `source` is None in monolingual files."""

    target: str
    source: str | None = None

    @classmethod
    def among(cls, names: Sequence[str]) -> RecordFields | None:
        """Find the known fields among `names`, or return None."""
        source = _first(SOURCE_FIELDS, names)
        target = _first(TARGET_FIELDS, names) or (None if source else _first(TEXT_FIELDS, names))
        return cls(target, source) if target else None


def _first(fields: Sequence[str], names: Sequence[str]) -> str | None:
    return next((name for name in fields if name in names), None)


def pair_skip_reason(source: str | None, target: str, *, bilingual: bool) -> str:
    """The reason not to edit a pair of texts, or ""."""
    if not target.strip():
        return SKIP_NO_TRANSLATION
    if bilingual and not (source or "").strip():
        return SKIP_NO_SOURCE
    return skip_reason(target)


@dataclass(slots=True)
class UniqueIds:
    """Makes the ids of a file unique: "a", "a~2", "a~3"."""

    _seen: set[str] = field(default_factory=set)
    _repeats: dict[str, int] = field(default_factory=dict)

    def unique(self, id: str) -> str:
        """Return the id, or its next free variant."""
        found = id
        while found in self._seen:
            self._repeats[id] = self._repeats.get(id, 1) + 1
            found = f"{id}~{self._repeats[id]}"
        self._seen.add(found)
        return found


@dataclass(slots=True)
class ChapterNumbering:
    """Numbers chapters by a field: a new chapter begins where its value changes."""

    number: int = 0
    title: str = ""
    _started: bool = False

    def enter(self, title: str) -> None:
        """Enter the chapter that a record names."""
        if self._started and title != self.title:
            self.number += 1
        self.title, self._started = title, True

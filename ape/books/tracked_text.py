"""A text with tracked changes: what stays, what was removed, what was inserted, and by whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ape.text.inline_marks import MARK, find_marks, strip_marks


@dataclass(frozen=True, slots=True)
class TrackedChange:
    """Who made a change and when (ISO 8601, UTC), and why: a comment on it, or ""."""

    author: str
    date: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class TrackedPiece:
    """A piece of text. Its marks are kept: each mark of the paragraph is in one piece that stays."""

    kind: Literal["same", "removed", "inserted"]
    text: str
    change: TrackedChange | None = None


def rejected_text(pieces: Iterable[TrackedPiece]) -> str:
    """The text with all changes rejected."""
    return "".join(one.text for one in pieces if one.kind != "inserted")


def accepted_text(pieces: Iterable[TrackedPiece]) -> str:
    """The text with all changes accepted."""
    return "".join(one.text for one in pieces if one.kind != "removed")


def without_marks(pieces: Iterable[TrackedPiece]) -> list[TrackedPiece]:
    """The pieces for a file that has none of the formatting."""
    plain = (replace(one, text=strip_marks(one.text)) for one in pieces)
    return [one for one in plain if one.text]


def apart_from_marks(pieces: Sequence[TrackedPiece]) -> list[TrackedPiece] | None:
    """The pieces with every mark in one that stays; None where a change moves a mark.

    A change that has the same marks on both sides is split at them.
    """
    out: list[TrackedPiece] = []
    at = 0
    while at < len(pieces):
        one = pieces[at]
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        if one.kind == "removed" and following and following.kind == "inserted" and following.change == one.change:
            if find_marks(one.text) != find_marks(following.text):
                return None
            out += _split_at_marks(one, following)
            at += 2
            continue
        if one.kind != "same" and find_marks(one.text):
            return None
        out.append(one)
        at += 1
    return [one for one in out if one.text]


def _split_at_marks(removed: TrackedPiece, inserted: TrackedPiece) -> Iterator[TrackedPiece]:
    marks = find_marks(removed.text)
    before, after = (_between(one.text) for one in (removed, inserted))
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            yield TrackedPiece("same", old)
        else:
            yield replace(removed, text=old)
            yield replace(inserted, text=new)
        if number < len(marks):
            yield TrackedPiece("same", marks[number])


def _between(text: str) -> list[str]:
    """The texts between the marks."""
    parts, at = [], 0
    for match in MARK.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
    return [*parts, text[at:]]

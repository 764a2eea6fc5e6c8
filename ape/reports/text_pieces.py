"""A text cut where it was edited and where inline mark-up stands, so that the pieces joined give it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ape.passage.edit import Edit
from ape.text.inline_marks import MARK

EditSide = Literal["mt", "post_edit"]


@dataclass(frozen=True, slots=True)
class EditPiece:
    """A stretch of a text, and the edit that touched it with its number in the paragraph."""

    text: str
    edit: Edit | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class MarkRun:
    """Plain text, or one mark: its `number`, and whether it "opens", "closes" or stands "alone"."""

    text: str
    number: str = ""
    role: str = ""


def split_at_edits(text: str, edits: Sequence[Edit], side: EditSide) -> Iterator[EditPiece]:
    """The text cut at its edits; `side` says of which text.

    Spaces at the rim of an edit stay unmarked: a rule drawn under them reads as a gap to fill. A span that is
    empty, reaches beyond the text or overlaps the one before marks nothing.
    """
    done = 0
    for number, edit in sorted(enumerate(edits), key=lambda item: _span(item[1], side)):
        start, end = _span(edit, side)
        if not done <= start < end <= len(text) or text[start:end].isspace():
            continue
        touched = text[start:end].strip()
        start = text.index(touched, start)
        end = start + len(touched)
        if done < start:
            yield EditPiece(text[done:start])
        yield EditPiece(text[start:end], edit, number)
        done = end
    if done < len(text):
        yield EditPiece(text[done:])


def _span(edit: Edit, side: EditSide) -> tuple[int, int]:
    return edit.mt_span if side == "mt" else edit.span


def split_at_marks(text: str) -> Iterator[MarkRun]:
    """The text cut at its marks."""
    done = 0
    for match in MARK.finditer(text) if "⟦" in text else ():
        if done < match.start():
            yield MarkRun(text[done : match.start()])
        role = "alone" if match["alone"] else "closes" if match["close"] else "opens"
        yield MarkRun(match.group(), match["number"], role)
        done = match.end()
    if done < len(text):
        yield MarkRun(text[done:])

"""A text cut where it was edited and where inline mark-up stands, so that the pieces joined give it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ape.books.marks import MARK
from ape.edits import Edit

Side = Literal["mt", "post_edit"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text, and the edit that touched it with its number in the paragraph."""

    text: str
    edit: Edit | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Plain text, or one mark: its `number`, and whether it "opens", "closes" or stands "alone"."""

    text: str
    number: str = ""
    role: str = ""


def pieces(text: str, edits: Sequence[Edit], side: Side) -> Iterator[Piece]:
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
            yield Piece(text[done:start])
        yield Piece(text[start:end], edit, number)
        done = end
    if done < len(text):
        yield Piece(text[done:])


def _span(edit: Edit, side: Side) -> tuple[int, int]:
    return edit.mt_span if side == "mt" else edit.span


def runs(text: str) -> Iterator[Run]:
    """The text cut at its marks."""
    done = 0
    for match in MARK.finditer(text) if "⟦" in text else ():
        if done < match.start():
            yield Run(text[done : match.start()])
        role = "alone" if match["alone"] else "closes" if match["close"] else "opens"
        yield Run(match.group(), match["number"], role)
        done = match.end()
    if done < len(text):
        yield Run(text[done:])

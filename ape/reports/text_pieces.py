"""Split a text at edits, inline marks or other spans; the pieces joined are the text again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from ape.passage.edit import Edit
from ape.text.inline_marks import MARK

EditSide = Literal["mt", "post_edit"]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class EditPiece:
    """A piece of a text, with the edit that changed it and the edit's number in the paragraph."""

    text: str
    edit: Edit | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class MarkRun:
    """Plain text, or one inline mark: its number and its role, "opens", "closes" or "alone"."""

    text: str
    number: str = ""
    role: str = ""


def split_at_spans(
    text: str, spans: Iterable[tuple[int, int, _Value]], *, keep_empty: bool = False
) -> Iterator[tuple[str, _Value | None]]:
    """Yield the pieces of a text, each with the value of its span or None between spans.

    Spans are (start, end, value), ordered by start. Spans that overlap an earlier one or reach beyond the text are
    ignored, and so are empty ones unless `keep_empty`.
    """
    done = 0
    for start, end, value in spans:
        if not done <= start <= end <= len(text) or (start == end and not keep_empty):
            continue
        if done < start:
            yield text[done:start], None
        yield text[start:end], value
        done = end
    if done < len(text):
        yield text[done:], None


def split_at_edits(text: str, edits: Sequence[Edit], side: EditSide) -> Iterator[EditPiece]:
    """Split the MT or the post-edit at its edits.

    Spaces at either end of an edit stay unmarked: a line drawn under them looks like a gap to fill in.
    """
    spans = sorted(
        (*_strip_span(text, *(edit.mt_span if side == "mt" else edit.span)), number)
        for number, edit in enumerate(edits)
    )
    for piece, number in split_at_spans(text, spans):
        yield EditPiece(piece) if number is None else EditPiece(piece, edits[number], number)


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    if not 0 <= start < end <= len(text) or text[start:end].isspace():
        return start, start
    words = text[start:end].strip()
    start = text.index(words, start)
    return start, start + len(words)


def split_at_marks(text: str) -> Iterator[MarkRun]:
    """Split a text at its inline marks."""
    marks = MARK.finditer(text) if "⟦" in text else ()
    for piece, match in split_at_spans(text, ((match.start(), match.end(), match) for match in marks)):
        if match is None:
            yield MarkRun(piece)
        else:
            role = "alone" if match["alone"] else "closes" if match["close"] else "opens"
            yield MarkRun(piece, match["number"], role)

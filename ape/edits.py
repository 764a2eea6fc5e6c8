"""What changed between the MT and its post-edit, as a translator would mark it: spans of both texts and a kind.

The edits are exact: applied to the MT they give the post-edit, character for character, in any script.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from ape.edit_alignment import Cell, Cut, align, cut
from ape.edit_kinds import Kind, kinds
from ape.errors import InputError
from ape.lexicon import lexicon

__all__ = ["Edit", "Kind", "apply_edits", "edit_rate", "find_edits"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: `before`, at `mt_span` of the MT, became `after`, at `span` of the post-edit."""

    kind: Kind
    before: str
    after: str
    mt_span: tuple[int, int]
    span: tuple[int, int]


def find_edits(mt: str, post_edit: str, *, language: str = "en") -> tuple[Edit, ...]:
    """The edits in the order of the text, none overlapping another; none at all for equal texts.

    `language` is the language both are written in. It sharpens the kinds, and never decides what has changed.
    """
    if mt == post_edit:
        return ()
    tables = lexicon(language)
    old, new = cut(mt, tables.expression), cut(post_edit, tables.expression)
    changes = _tidied(_changes(old, new, align(old, new, tables)), mt, post_edit)
    named = iter(kinds([cell for cell, _, _ in changes if cell], old, new, tables))
    return tuple(
        Edit(
            next(named) if cell else Kind.PUNCTUATION,
            mt[slice(*mt_span)],
            post_edit[slice(*span)],
            mt_span,
            span,
        )
        for cell, mt_span, span in changes
    )


def apply_edits(mt: str, edits: Iterable[Edit]) -> str:
    """The MT with the edits made: the post-edit with all that `find_edits` gives, part of the way with some."""
    parts: list[str] = []
    done = 0
    for edit in edits:
        start, end = edit.mt_span
        if start < done or mt[start:end] != edit.before:
            raise InputError(
                f"The edit {edit.before!r} -> {edit.after!r} does not fit the MT at {start}:{end}; "
                "give the edits in order, with the MT they were found in.",
                field="edits",
            )
        parts += mt[done:start], edit.after
        done = end
    return "".join([*parts, mt[done:]])


def edit_rate(mt: str, post_edit: str) -> float:
    """How much was changed: words and marks put in, taken out or replaced, for each word or mark of the MT.

    Spaces do not count; capitals do. A word that moved counts twice, out and in. 0.0 is no change; a rate can
    pass 1.0 where much was added. With nothing in the MT to measure by, any word at all makes it 1.0.
    """
    if mt == post_edit:
        return 0.0
    old, new = cut(mt).tokens, cut(post_edit).tokens
    if not old:
        return 1.0 if new else 0.0
    return Levenshtein.distance(old, new) / len(old)


Span = tuple[int, int]
# A change that has no cell is one of the space between words.
Change = tuple[Cell | None, Span, Span]


def _changes(old: Cut, new: Cut, cells: Iterable[Cell]) -> Iterator[Change]:
    """The cells that differ, word by word where only capitals do, and the spaces between them that differ."""
    mt_at, at = old.starts[0], new.starts[0]
    yield from _space(old, new, (0, mt_at), (0, at))
    for cell in _each_word(old, new, cells):
        a, a_end, b, b_end = cell
        mt_end = old.ends[a_end - 1] if a < a_end else mt_at
        end = new.ends[b_end - 1] if b < b_end else at
        if old.text[mt_at:mt_end] != new.text[at:end]:
            yield cell, (mt_at, mt_end), (at, end)
        mt_at = old.starts[a_end] if a < a_end else mt_at
        at = new.starts[b_end] if b < b_end else at
        yield from _space(old, new, (mt_end, mt_at), (end, at))


def _each_word(old: Cut, new: Cut, cells: Iterable[Cell]) -> Iterator[Cell]:
    """Cells as they are, but a matched one that is not written the same word by word."""
    for cell in cells:
        a, a_end, b, b_end = cell
        matched = old.keys[a:a_end] == new.keys[b:b_end]
        if matched and old.between(a, a_end) != new.between(b, b_end):
            yield from (Cell(a + n, a + n + 1, b + n, b + n + 1) for n in range(a_end - a))
        else:
            yield cell


def _space(old: Cut, new: Cut, mt_span: Span, span: Span) -> Iterator[Change]:
    if old.text[slice(*mt_span)] != new.text[slice(*span)]:
        yield None, mt_span, span


def _tidied(changes: Iterable[Change], mt: str, post_edit: str) -> list[Change]:
    """A word or mark put in or taken out takes its space with it."""
    result: list[Change] = []
    for change in changes:
        if result and _belong_together(result[-1], change, mt, post_edit):
            result[-1] = _joined(result[-1], change)
        else:
            result.append(change)
    return [_trimmed(change, mt, post_edit) for change in result]


def _belong_together(first: Change, second: Change, mt: str, post_edit: str) -> bool:
    touching = first[1][1] == second[1][0] and first[2][1] == second[2][0]
    if not touching or (first[0] is None) == (second[0] is None):
        return False
    if first[0] is None:
        return _is_one_sided(second) or _is_empty(first[1]) or _is_empty(first[2])
    # A space that only one text has comes with the mark at the end of one of the two sides.
    ends = mt[first[1][1] - 1], post_edit[first[2][1] - 1]
    return _is_one_sided(first) or not (ends[0].isalnum() and ends[1].isalnum())


def _is_empty(span: Span) -> bool:
    return span[0] == span[1]


def _is_one_sided(change: Change) -> bool:
    cell = change[0]
    return cell is not None and (cell.a == cell.a_end or cell.b == cell.b_end)


def _joined(first: Change, second: Change) -> Change:
    return first[0] or second[0], (first[1][0], second[1][1]), (first[2][0], second[2][1])


def _trimmed(change: Change, mt: str, post_edit: str) -> Change:
    """Without the space that both sides begin or end with."""
    cell, (mt_start, mt_end), (start, end) = change
    if cell is None:
        return change
    while mt_start < mt_end and start < end and mt[mt_start] == post_edit[start] and mt[mt_start].isspace():
        mt_start, start = mt_start + 1, start + 1
    while (
        mt_start < mt_end
        and start < end
        and mt[mt_end - 1] == post_edit[end - 1]
        and mt[mt_end - 1].isspace()
    ):
        mt_end, end = mt_end - 1, end - 1
    return cell, (mt_start, mt_end), (start, end)

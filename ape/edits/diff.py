"""Find the edits between an MT and its post-edit, as a translator would mark them.

The edits are exact: applied to the MT they give the post-edit, character for character, in any script.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from ape.edits.alignment import TokenizedText, align_texts, tokenize_text
from ape.edits.kinds import classify_cells
from ape.edits.phrases import AlignedCell
from ape.errors import InputError
from ape.passage.edit import Edit, EditKind
from ape.text.lexicon import load_lexicon


def find_edits(mt: str, post_edit: str, *, language: str = "en") -> tuple[Edit, ...]:
    """Find the edits in the order of the text, without overlap.

    `language` is that of both texts. It affects how changes are split and classified.
    """
    return _find_edits(mt, post_edit, language) if mt != post_edit else ()


# A draft is compared with its MT for its conventions, and again for the edits of the answer.
@lru_cache(maxsize=8)
def _find_edits(mt: str, post_edit: str, language: str) -> tuple[Edit, ...]:
    tables = load_lexicon(language)
    old, new = tokenize_text(mt, tables.expression), tokenize_text(post_edit, tables.expression)
    changes = _with_spaces_joined(_changes(old, new, align_texts(old, new, tables)), mt, post_edit)
    names = iter(classify_cells([change.cell for change in changes if change.cell], old, new, tables))
    return tuple(
        Edit(
            next(names) if cell else EditKind.PUNCTUATION,
            mt[mt_span[0] : mt_span[1]],
            post_edit[span[0] : span[1]],
            mt_span,
            span,
        )
        for cell, mt_span, span in changes
    )


def apply_edits(mt: str, edits: Iterable[Edit]) -> str:
    """Apply edits to the MT. All edits of `find_edits` give the post-edit; any of them may be left out."""
    parts: list[str] = []
    done = 0
    for edit in edits:
        start, end = edit.mt_span
        if start < done or mt[start:end] != edit.before:
            raise InputError(
                f"The edit {edit.before!r} -> {edit.after!r} does not fit the MT at {start}:{end}; "
                "pass the edits in order, with the MT in which they were found.",
                field="edits",
            )
        parts += mt[done:start], edit.after
        done = end
    return "".join([*parts, mt[done:]])


def edit_rate(mt: str, post_edit: str) -> float:
    """The number of words and marks inserted, deleted or replaced, divided by the number in the MT.

    Spaces do not count; case does. A moved word counts twice, as a deletion and an insertion. The rate can exceed 1.0
    if much was added. If the MT is empty, it is 1.0 for any text.
    """
    if mt == post_edit:
        return 0.0
    old, new = tokenize_text(mt, None).tokens, tokenize_text(post_edit, None).tokens
    if not old:
        return 1.0 if new else 0.0
    return Levenshtein.distance(old, new) / len(old)


EditSpan = tuple[int, int]


class _Change(NamedTuple):
    """A span that differs; without a cell, it is only the space between words."""

    cell: AlignedCell | None
    mt_span: EditSpan
    span: EditSpan

    @property
    def is_one_sided(self) -> bool:
        return self.cell is not None and (self.cell.a == self.cell.a_end or self.cell.b == self.cell.b_end)


def _changes(old: TokenizedText, new: TokenizedText, cells: Iterable[AlignedCell]) -> list[_Change]:
    """The cells that differ, word by word if only case differs, and the spaces that differ."""
    changes: list[_Change] = []
    if old.text[: old.starts[0]] != new.text[: new.starts[0]]:
        changes.append(_Change(None, (0, old.starts[0]), (0, new.starts[0])))
    for cell in cells:
        _add_changes_within(old, new, cell, changes)
    return changes


def _add_changes_within(old: TokenizedText, new: TokenizedText, cell: AlignedCell, changes: list[_Change]) -> None:
    """Append what differs in a cell or in the space after it."""
    a, a_end, b, b_end = cell
    mt_start, mt_end = old.starts[a], old.starts[a_end]
    start, end = new.starts[b], new.starts[b_end]
    if old.text[mt_start:mt_end] == new.text[start:end]:
        return
    if a_end - a > 1 and old.keys[a:a_end] == new.keys[b:b_end]:
        # Bisect, since most of a long match is identical.
        half = (a_end - a) // 2
        _add_changes_within(old, new, AlignedCell(a, a + half, b, b + half), changes)
        _add_changes_within(old, new, AlignedCell(a + half, a_end, b + half, b_end), changes)
        return
    mt_space = old.ends[a_end - 1] if a < a_end else mt_start
    space = new.ends[b_end - 1] if b < b_end else start
    if old.text[mt_start:mt_space] != new.text[start:space]:
        changes.append(_Change(cell, (mt_start, mt_space), (start, space)))
    if old.text[mt_space:mt_end] != new.text[space:end]:
        changes.append(_Change(None, (mt_space, mt_end), (space, end)))


def _with_spaces_joined(changes: Iterable[_Change], mt: str, post_edit: str) -> list[_Change]:
    """Join an inserted or deleted word or mark with its space."""
    result: list[_Change] = []
    for change in changes:
        if result and _belong_together(result[-1], change, mt, post_edit):
            result[-1] = _join(result[-1], change)
        else:
            result.append(change)
    return [_trim(change, mt, post_edit) for change in result]


def _belong_together(first: _Change, second: _Change, mt: str, post_edit: str) -> bool:
    if first.mt_span[1] != second.mt_span[0] or first.span[1] != second.span[0]:
        return False
    if (first.cell is None) == (second.cell is None):
        return False
    if first.is_one_sided or second.is_one_sided:
        return True
    space = second if first.cell else first
    if space.mt_span[0] != space.mt_span[1] and space.span[0] != space.span[1]:
        return False
    # A space in only one text belongs to the mark before it, or else to the change after it.
    return space is first or not (mt[first.mt_span[1] - 1].isalnum() and post_edit[first.span[1] - 1].isalnum())


def _join(first: _Change, second: _Change) -> _Change:
    return _Change(first.cell or second.cell, (first.mt_span[0], second.mt_span[1]), (first.span[0], second.span[1]))


def _trim(change: _Change, mt: str, post_edit: str) -> _Change:
    """Trim the space that both sides begin or end with, unless the change is space alone."""
    cell, (mt_start, mt_end), (start, end) = change
    before, after = mt[mt_start:mt_end], post_edit[start:end]
    if cell is None or not (before[:1].isspace() or before[-1:].isspace()):
        return change
    head = _shared_space(before, after)
    tail = _shared_space(before[head:][::-1], after[head:][::-1])
    return _Change(cell, (mt_start + head, mt_end - tail), (start + head, end - tail))


def _shared_space(before: str, after: str) -> int:
    """The length of the space with which both texts begin."""
    shared = 0
    for character, other in zip(before, after, strict=False):
        if character != other or not character.isspace():
            break
        shared += 1
    return shared

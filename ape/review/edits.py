"""The edits of a paragraph under review: their states, and why some of them start open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ape.edits.diff import apply_edits, find_edits
from ape.jobs.result_rows import count_words
from ape.passage.edit import Edit, EditKind
from ape.passage.result import Finding, PostEdit, Severity

# Longer edits, in words of the longer side, start open.
LARGE_EDIT_WORDS = 6
# So do insertions and deletions of more words than this.
LARGE_ADDITION_WORDS = 2
# And all edits of a paragraph that was rewritten by more than this.
LARGE_EDIT_RATE = 0.3
# Findings that say nothing about the accepted draft.
_NOT_ABOUT_THE_DRAFT = frozenset(("gate", "format", "languages", "ledger", "wordless"))

EditKey = tuple[int, str, str]


class EditState(StrEnum):
    """Whether an edit is in the text. An open one is not, and waits for a decision."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OPEN = "open"


class EditOrigin(StrEnum):
    """Who proposed an edit."""

    MODEL = "model"
    NAMES = "names"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class ReviewEdit:
    """An edit with its state. `decided` says that a person chose it; `doubt` is why it started open."""

    edit: Edit
    state: EditState
    origin: EditOrigin
    decided: bool = False
    doubt: str = ""

    @property
    def key(self) -> EditKey:
        """What identifies the edit in its paragraph, also in another result for the same MT."""
        return edit_key(self.edit)


def edit_key(edit: Edit) -> EditKey:
    """The place of the edit in the MT, and its two wordings."""
    return edit.mt_span[0], edit.before, edit.after


def find_doubt(edit: Edit, result: PostEdit) -> str:
    """Why an edit should be decided by a person; "" if it may be accepted unseen.

    Repairs of the ledger carry their reason and are safe.
    """
    if edit.reason:
        return ""
    words = max(count_words(edit.before) if edit.before else 0, count_words(edit.after) if edit.after else 0)
    if words > LARGE_EDIT_WORDS:
        return f"It changes {words} words at once."
    if edit.kind in (EditKind.INSERTION, EditKind.DELETION) and words > LARGE_ADDITION_WORDS:
        return f"It {'adds' if edit.kind is EditKind.INSERTION else 'removes'} {words} words."
    if edit.kind is EditKind.NUMBER:
        return "It changes a number."
    if result.edit_rate > LARGE_EDIT_RATE:
        return f"{result.edit_rate:.0%} of the paragraph was changed."
    return next((f"The guard “{guard_words(one.guard)}” warned." for one in draft_findings(result)), "")


def guard_words(guard: str) -> str:
    """The name of a guard as words."""
    return guard.replace("_", " ")


def draft_findings(result: PostEdit) -> Iterator[Finding]:
    """The warnings about the draft that was accepted."""
    for finding in result.findings:
        about_it = result.attempt and finding.attempt == result.attempt and finding.guard not in _NOT_ABOUT_THE_DRAFT
        if about_it and finding.severity is Severity.WARN:
            yield finding


def proposed_edits(result: PostEdit | None) -> Iterator[ReviewEdit]:
    """The edits of a result in their first states: accepted, or open where there is a doubt."""
    for edit in result.edits if result else ():
        doubt = find_doubt(edit, result) if result else ""
        origin = EditOrigin.NAMES if edit.reason else EditOrigin.MODEL
        yield ReviewEdit(edit, EditState.OPEN if doubt else EditState.ACCEPTED, origin, doubt=doubt)


def accepted_text(mt: str, edits: Iterable[ReviewEdit]) -> str:
    """The MT with the accepted edits."""
    return apply_edits(mt, [one.edit for one in edits if one.state is EditState.ACCEPTED])


def edits_of_own_text(mt: str, text: str, earlier: Sequence[ReviewEdit], *, language: str) -> tuple[ReviewEdit, ...]:
    """The edits of a text that a person wrote, and those earlier proposals that it does not touch.

    An edit that was there before keeps its origin; one that is left out of the text stays open or rejected.
    """
    known = {one.key: one for one in earlier}
    found = []
    for edit in find_edits(mt, text, language=language):
        before = known.get(edit_key(edit))
        if before and before.state is EditState.ACCEPTED:
            found.append(before)
        else:
            found.append(ReviewEdit(edit, EditState.ACCEPTED, EditOrigin.PERSON, decided=True))
    apart = [
        replace(one, state=EditState.OPEN, decided=False) if one.state is EditState.ACCEPTED else one
        for one in earlier
        if not any(_touch(one.edit.mt_span, other.edit.mt_span) for other in found)
    ]
    return tuple(sorted([*found, *apart], key=lambda one: one.edit.mt_span))


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two spans overlap, or one is empty and lies at the edge of the other."""
    if one[0] == one[1] or other[0] == other[1]:
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]

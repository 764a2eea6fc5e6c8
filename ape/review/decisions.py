"""What a person can decide about a paragraph, and the state that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ape.edits.diff import apply_edits
from ape.errors import InputError
from ape.guards import check_draft
from ape.jobs.job import Job
from ape.jobs.job_paragraph import ParagraphState
from ape.passage.result import Finding
from ape.passage.segment import Draft, Segment
from ape.review.edits import EditState, ReviewEdit, edits_of_own_text
from ape.review.paragraph import ReviewParagraph
from ape.review.state import ReviewState
from ape.text.characters import UNREADABLE_CHARACTER
from ape.text.inline_marks import describe_misplaced_marks

# The longest text of a paragraph, comment or instruction.
MAX_TEXT = 50_000


class ReviewAction(StrEnum):
    """The kinds of decisions. `reopen` takes a choice back, `restore` a dismissal."""

    ACCEPT = "accept"
    REJECT = "reject"
    REOPEN = "reopen"
    CHANGE = "change"
    COMMENT = "comment"
    DISMISS = "dismiss"
    RESTORE = "restore"
    REPLACE = "replace"
    REDO = "redo"
    UNDO = "undo"


CHOICES = {ReviewAction.ACCEPT: EditState.ACCEPTED, ReviewAction.REJECT: EditState.REJECTED, ReviewAction.REOPEN: None}


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A decision on a paragraph as it was at `version`.

    `edits` are the numbers of the edits that it speaks of; none means all. `text` is the new wording of that one edit
    or of the paragraph, or the comment. `finding` is the guard and the message to dismiss.
    """

    paragraph: str
    version: str
    action: ReviewAction
    edits: tuple[int, ...] = ()
    text: str = ""
    finding: tuple[str, str] | None = None


def next_state(known: ReviewParagraph, decision: ReviewDecision, job: Job) -> ReviewState:
    """The state of the paragraph after the decision."""
    refuse_skipped(known)
    match decision.action:
        case ReviewAction.ACCEPT | ReviewAction.REJECT | ReviewAction.REOPEN:
            return _with_choices(known, decision.edits, CHOICES[decision.action])
        case ReviewAction.CHANGE | ReviewAction.REPLACE:
            return with_own_text(known, _changed_text(known, decision), job)
        case ReviewAction.DISMISS | ReviewAction.RESTORE:
            return _with_dismissal(known, decision)
        case _:
            return known.state


def refuse_skipped(known: ReviewParagraph) -> None:
    """Raise for a paragraph that the writer leaves as it is."""
    if known.row.state is ParagraphState.SKIPPED:
        raise InputError(f"This paragraph can't be changed: {known.row.planned.skip}.", field="paragraph")


def _with_choices(known: ReviewParagraph, numbers: Iterable[int], choice: EditState | None) -> ReviewState:
    edits = known.edits
    return known.state.choose([_edit_at(edits, number).key for number in numbers or range(len(edits))], choice)


def _edit_at(edits: Sequence[ReviewEdit], number: int) -> ReviewEdit:
    if not 0 <= number < len(edits):
        raise InputError(f"The paragraph has {len(edits)} edits; there is no edit {number}.", field="edits")
    return edits[number]


def _changed_text(known: ReviewParagraph, decision: ReviewDecision) -> str:
    """The whole text: as given, or with the new wording of one edit in its place."""
    if not decision.edits:
        return decision.text
    if len(decision.edits) > 1:
        raise InputError("Change one edit at a time, or the whole text.", field="edits")
    number, edits = decision.edits[0], known.edits
    _edit_at(edits, number)
    accepted = [
        replace(one.edit, after=decision.text) if at == number else one.edit
        for at, one in enumerate(edits)
        if at == number or one.state is EditState.ACCEPTED
    ]
    return apply_edits(known.row.planned.mt, accepted)


def with_own_text(known: ReviewParagraph, text: str, job: Job) -> ReviewState:
    """The state with a text of a person. Findings of the guards are kept as warnings.

    Raises where the text could not be written into the book: without its marks, or with unreadable characters.
    """
    mt = known.row.planned.mt
    refuse_unwritable(text, mt)
    language = job.recipe.target_language
    edits = edits_of_own_text(mt, text, known.edits, language=language)
    chosen = tuple((one.key, one.state) for one in edits if one.decided and one.state is not EditState.ACCEPTED)
    return replace(
        known.state, own_edits=edits, choices=chosen, warnings=check_own_text(known, text, job)
    )  # fmt: skip


def refuse_unwritable(text: str, mt: str) -> None:
    """Raise where the text could not be written into the book."""
    if len(text) > MAX_TEXT:
        raise InputError(f"The text has {len(text):,} characters; at most {MAX_TEXT:,} are allowed.", field="text")
    if not text.strip():
        raise InputError("The text is empty. To keep the MT, reject the edits.", field="text")
    if found := UNREADABLE_CHARACTER.search(text):
        raise InputError(f"The text has the unreadable character U+{ord(found.group()):04X}. Remove it.", field="text")
    if message := describe_misplaced_marks(text, mt):
        raise InputError(f"{message} The marks stand for formatting of the book: keep each once.", field="text")


def check_own_text(known: ReviewParagraph, text: str, job: Job) -> tuple[Finding, ...]:
    """What the guards say about a text of a person; they only warn."""
    planned, recipe = known.row.planned, job.recipe
    if not planned.source.strip():
        return ()
    segment = Segment(
        planned.source, planned.mt, recipe.source_language, recipe.target_language, glossary=recipe.glossary
    )  # fmt: skip
    return check_draft(segment, Draft(text))


def _with_dismissal(known: ReviewParagraph, decision: ReviewDecision) -> ReviewState:
    there = {(one.guard, one.message) for one in known.findings}
    if decision.finding not in there:
        raise InputError("The paragraph has no such finding.", field="finding")
    rest = tuple(one for one in known.state.dismissed if one != decision.finding)
    if decision.action is ReviewAction.RESTORE:
        return replace(known.state, dismissed=rest)
    return replace(known.state, dismissed=(*rest, decision.finding))

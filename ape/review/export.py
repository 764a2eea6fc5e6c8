"""What a reviewer takes home: the book with accepted edits, tracked changes in Word, XLIFF, side by side, decisions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO, get_args

from ape.books.docx import DocxBook
from ape.books.docx_tracked import NewDocxParagraph, write_new_docx, write_tracked_docx
from ape.books.formats import ReviewExport
from ape.books.tracked_text import TrackedChange, TrackedPiece
from ape.errors import InputError
from ape.jobs.export import xliff_lines
from ape.jobs.job import Job
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.output import open_input, open_output, write_output
from ape.passage.result import Decision, PostEdit, Usage
from ape.review.edits import EditOrigin, EditState, ReviewEdit
from ape.review.paragraph import ReviewParagraph
from ape.review.store import ReviewStore

EDITOR = "ape"


@dataclass(frozen=True, slots=True)
class ReviewExportKind:
    """The media type and suffix of an export; the book has its own."""

    media_type: str
    suffix: str


REVIEW_EXPORTS: Mapping[ReviewExport, ReviewExportKind] = {
    "reviewed-book": ReviewExportKind("", ""),
    "tracked-docx": ReviewExportKind(
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".tracked.docx"
    ),
    "reviewed-xliff": ReviewExportKind("application/xliff+xml", ".reviewed.xlf"),
    "side-by-side": ReviewExportKind("text/html; charset=utf-8", ".side-by-side.html"),
    "review-report": ReviewExportKind("text/html; charset=utf-8", ".review.html"),
    "decisions": ReviewExportKind("application/jsonl", ".decisions.jsonl"),
}


def write_review_export(reviews: ReviewStore, job: Job, output: Path, format: str) -> None:
    """Write one export of a review to a file, which appears when it is complete."""
    if format == "reviewed-book":
        write_output(reviews.jobs, job, output, rows=lambda: reviewed_rows(reviews, job.id))
        return
    writers: dict[str, Callable[[ReviewStore, Job, BinaryIO], None]] = {
        "tracked-docx": _write_docx,
        "reviewed-xliff": _write_xliff,
        "side-by-side": _write_side_by_side,
        "review-report": _write_report,
        "decisions": _write_decisions,
    }
    if format not in writers:
        names = ", ".join(get_args(ReviewExport))
        raise InputError(f"Unknown export format {format!r}. Choose one of: {names}.", field="format")
    with open_output(output) as (_, file):
        writers[format](reviews, job, file)


def reviewed_rows(reviews: ReviewStore, job: str) -> Iterator[JobParagraph]:
    """The paragraphs with the reviewed texts as their results."""
    for one in reviews.paragraphs(job, with_comments=False):
        yield reviewed_row(one)


def reviewed_row(one: ReviewParagraph) -> JobParagraph:
    """The paragraph with the reviewed text as its result."""
    text, row = one.text, one.row
    if text == row.text and row.result:
        return row
    decision = Decision.EDITED if text != row.planned.mt else Decision.UNCHANGED
    known = row.result or PostEdit("", text, decision, (), (), 0.0, "", "", Usage())
    edits = tuple(edit.edit for edit in one.edits if edit.state is EditState.ACCEPTED)
    return replace(row, result=replace(known, post_edit=text, decision=decision, edits=edits))


def tracked_pieces(one: ReviewParagraph, *, date: str) -> list[TrackedPiece]:
    """The MT with the accepted edits as tracked changes; comments of reviewers are at the first change."""
    mt, at = one.row.planned.mt, 0
    pieces: list[TrackedPiece] = []
    remarks = [f"{comment.author}: {comment.text}" for comment in one.comments]
    for edit in one.edits:
        if edit.state is not EditState.ACCEPTED:
            continue
        start, end = edit.edit.mt_span
        change = _change(one, edit, date, remarks)
        remarks = []
        pieces += TrackedPiece("same", mt[at:start]), TrackedPiece("removed", edit.edit.before, change)
        pieces.append(TrackedPiece("inserted", edit.edit.after, change))
        at = end
    pieces.append(TrackedPiece("same", mt[at:]))
    return [piece for piece in pieces if piece.text]


def _change(one: ReviewParagraph, edit: ReviewEdit, date: str, remarks: list[str]) -> TrackedChange:
    by_person = edit.origin is EditOrigin.PERSON
    when = one.updated.strftime("%Y-%m-%dT%H:%M:%SZ") if by_person and one.updated else date
    reason = edit.edit.reason or str(edit.edit.kind)
    return TrackedChange((one.author if by_person else "") or EDITOR, when, "\n".join([reason, *remarks]))


def _write_docx(reviews: ReviewStore, job: Job, file: BinaryIO) -> None:
    date = job.updated.strftime("%Y-%m-%dT%H:%M:%SZ")
    book = open_input(job, job.mt, job.mt_hash)
    if isinstance(book, DocxBook):
        pieces = {one.id: tracked_pieces(one, date=date) for one in reviews.paragraphs(job.id)}
        write_tracked_docx(book, file, pieces.get)
        return
    chapter = None
    rows = []
    for one in reviews.paragraphs(job.id):
        begins = chapter not in (None, one.row.planned.chapter)
        chapter = one.row.planned.chapter
        rows.append(NewDocxParagraph(tracked_pieces(one, date=date), begins))
    write_new_docx(file, rows, language=job.recipe.target_language)


def _write_xliff(reviews: ReviewStore, job: Job, file: BinaryIO) -> None:
    rows = ((reviewed_row(one), segment_state(one), _notes(one)) for one in reviews.paragraphs(job.id))
    for line in xliff_lines(rows, job):
        file.write(line.encode("utf-8", "replace"))


def segment_state(one: ReviewParagraph) -> str:
    """The state of the segment in XLIFF: "final" once a person decided about everything in it."""
    if one.row.state is ParagraphState.SKIPPED:
        return "initial"
    edits = one.edits
    if edits and all(edit.decided for edit in edits):
        return "final"
    if one.is_own_text or any(edit.decided for edit in edits):
        return "reviewed"
    return "translated" if one.row.result else "initial"


def _notes(one: ReviewParagraph) -> list[str]:
    return [f"{comment.author}: {comment.text}" for comment in one.comments]


def _write_side_by_side(reviews: ReviewStore, job: Job, file: BinaryIO) -> None:
    from ape.review.side_by_side import render_side_by_side

    file.write(render_side_by_side(reviews, job).encode("utf-8", "replace"))


def _write_report(reviews: ReviewStore, job: Job, file: BinaryIO) -> None:
    from ape.review.side_by_side import render_review_report

    file.write(render_review_report(reviews, job).encode("utf-8", "replace"))


def _write_decisions(reviews: ReviewStore, job: Job, file: BinaryIO) -> None:
    for line in decision_lines(reviews, job):
        file.write((json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace"))


def decision_lines(reviews: ReviewStore, job: Job) -> Iterator[dict[str, object]]:
    """Every decision of the log, oldest first, and then each paragraph as it stands with its edits."""
    last = 0
    while entries := reviews.changes(job.id, after=last):
        for entry in entries:
            last = entry.id
            values = {name: value for name, value in asdict(entry).items() if name not in ("before", "after")}
            yield {"type": "decision", **values, "action": entry.action.value, "at": entry.at.isoformat()}
    for one in reviews.paragraphs(job.id):
        if any(edit.decided for edit in one.edits) or one.is_own_text:
            yield {"type": "paragraph", **paragraph_fields(one, job)}


def paragraph_fields(one: ReviewParagraph, job: Job) -> dict[str, object]:
    """A reviewed paragraph with its edits, for training and for labels."""
    planned = one.row.planned
    return {
        "id": one.id,
        "source": planned.source,
        "mt": planned.mt,
        "text": one.text,
        "source_language": job.recipe.source_language,
        "target_language": job.recipe.target_language,
        "model": one.row.result.model if one.row.result else "",
        "edits": [
            {
                "kind": edit.edit.kind.value,
                "before": edit.edit.before,
                "after": edit.edit.after,
                "mt_span": edit.edit.mt_span,
                "origin": edit.origin.value,
                "state": edit.state.value,
                "decided": edit.decided,
            }
            for edit in one.edits
        ],
    }

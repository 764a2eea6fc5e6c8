"""Pages of a review to keep: source and text side by side with the changes, and the revision report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from ape.jobs.job import Job
from ape.reports.base_page import Page
from ape.review.edits import EditState
from ape.review.paragraph import ReviewParagraph
from ape.review.store import ReviewStore
from ape.review.summary import summarize, work_seconds
from ape.text.inline_marks import strip_marks

_PAGE = Page("ape.review", styles=["side_by_side.css"])


def change_pieces(one: ReviewParagraph) -> Iterator[tuple[str, str, int]]:
    """The MT with all proposed edits, as (kind, text, number of the edit): "same", "removed" or "inserted"."""
    mt, at = one.row.planned.mt, 0
    for number, edit in enumerate(one.edits):
        start, end = edit.edit.mt_span
        yield "same", strip_marks(mt[at:start]), -1
        yield "removed", strip_marks(edit.edit.before), number
        yield "inserted", strip_marks(edit.edit.after), number
        at = end
    yield "same", strip_marks(mt[at:]), -1


def render_side_by_side(reviews: ReviewStore, job: Job) -> str:
    """The whole book: source, and the text with its accepted changes marked."""

    def chapters() -> Iterator[tuple[str, Iterable[ReviewParagraph]]]:
        rows = reviews.paragraphs(job.id)
        for _, group in groupby(rows, key=lambda one: one.row.planned.chapter):
            found = list(group)
            yield found[0].row.planned.title, found

    return _PAGE.render(
        "side_by_side.html", job=job, chapters=chapters(), pieces_of=_accepted_pieces, strip_marks=strip_marks
    )


def _accepted_pieces(one: ReviewParagraph) -> Iterator[tuple[str, str, int]]:
    edits = one.edits
    for kind, text, number in change_pieces(one):
        state = edits[number].state if number >= 0 else EditState.ACCEPTED
        if state is EditState.ACCEPTED:
            yield kind, text, number
        elif kind == "removed":
            yield "same", text, -1


def render_review_report(reviews: ReviewStore, job: Job) -> str:
    """Counts, time, and acceptance by kind of edit and by guard."""
    summary = summarize(reviews.paragraphs(job.id))
    seconds = work_seconds(reviews.changes(job.id, after=0, limit=1_000_000))
    groups = (
        ("Kind of edit", summary.by_kind),
        ("Guard", summary.by_guard),
        ("Chapter", {summary.titles.get(number) or number + 1: c for number, c in summary.by_chapter.items()}),
    )
    return _PAGE.render("review_report.html", job=job, summary=summary, seconds=seconds, groups=groups)

"""The review page: a chapter with source, MT and text, and each edit to accept or reject; links for guests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.responses import RedirectResponse

from ape.passage.edit import EditKind
from ape.review.edits import guard_words
from ape.review.filters import ReviewFilter, ReviewStage
from ape.review.links import UnknownLink, find_link
from ape.review.paragraph import ReviewParagraph
from ape.review.side_by_side import change_pieces
from ape.settings import Settings
from ape.text.inline_marks import strip_marks
from serve.middleware.problems import NotAllowed
from serve.middleware.request_log import log_fields
from serve.middleware.sessions import session_of
from serve.pages.responses import PAGE_HEADERS, log_in_first, page_response
from serve.routes.review import AfterPosition, Guard, Words, read_page, review_out, reviews_of, run_for
from serve.routes.reviewer import Reviewer, find_reviewer, link_cookie, link_csrf, link_token
from serve.schemas.review import ReviewOut, ReviewParagraphOut

# Paragraphs of one page: a long chapter, or a part of a book without chapters.
PAGE_PARAGRAPHS = 300
_LINK_SECONDS = 365 * 86_400
DOWNLOADS = {
    "reviewed-book": "The book with accepted edits",
    "tracked-docx": "Word with tracked changes",
    "reviewed-xliff": "XLIFF with states",
    "side-by-side": "Side by side (HTML)",
    "review-report": "Revision report",
    "decisions": "Decisions (JSONL)",
}


@dataclass(frozen=True, slots=True)
class KeyAction:
    """What a key does on the review page, which has a button for it. Main ones stay in sight on a phone."""

    key: str
    name: str
    label: str
    meaning: str
    is_main: bool = False


KEYS = (
    KeyAction("A", "accept", "Accept", "accept the edit: it is in the text", is_main=True),
    KeyAction("R", "reject", "Reject", "reject the edit: the machine translation stays", is_main=True),
    KeyAction("P", "previous", "Previous", "previous edit", is_main=True),
    KeyAction("N", "next", "Next", "next edit", is_main=True),
    KeyAction("E", "edit", "Edit", "edit the text of the paragraph in place", is_main=True),
    KeyAction("U", "undo", "Undo", "undo your last step", is_main=True),
    KeyAction("C", "comment", "Comment", "comment on the paragraph"),
    KeyAction("D", "dismiss", "It’s fine", "dismiss the findings of the paragraph: it’s fine"),
    KeyAction("H", "history", "History", "history of the paragraph"),
    KeyAction("M", "redo", "Ask again", "have the model edit the paragraph again, with an instruction"),
    KeyAction("G", "names", "Names", "names of the book"),
    KeyAction("/", "search", "Replace", "search and replace in the whole book"),
    KeyAction("?", "keys", "More", "all actions and their keys", is_main=True),
)
STAGES = {
    ReviewStage.OPEN: "open",
    ReviewStage.ACCEPTED: "accepted",
    ReviewStage.REJECTED: "rejected",
    ReviewStage.UNDECIDED: "undecided by people",
    ReviewStage.CHANGED: "written by a person",
    ReviewStage.COMMENTED: "with comments",
    ReviewStage.FINDINGS: "with findings",
    ReviewStage.DISMISSED: "findings dismissed",
    ReviewStage.REFUSED: "draft refused",
}
# Characters that turn the direction of what follows; a reader can't see them.
_OVERRIDES = frozenset("\u202d\u202e")
StageQuery = Annotated[str, Query(max_length=40)]
ChapterQuery = Annotated[str | None, Query(max_length=12)]


def add_review_pages(app: FastAPI, settings: Settings) -> None:
    """Add GET /books/{id}/review and GET /shared/{token}."""

    async def caller(request: Request, id: str) -> Reviewer:
        return await _reviewer_or_login(request, settings, id)

    @app.get("/books/{id}/review", include_in_schema=False)
    async def review(
        request: Request,
        reviewer: Reviewer = Depends(caller),  # noqa: B008
        chapter: ChapterQuery = None,
        stage: StageQuery = "",
        kind: StageQuery = "",
        guard: Guard = "",
        text: Words = "",
        after: AfterPosition = -1,
    ) -> Response:
        wanted = _filter(chapter or "", stage, kind, guard, text)
        return await run_for(request, reviewer, _page, request, reviewer, wanted, after, first_chapter=chapter is None)

    @app.get("/shared/{token}", include_in_schema=False)
    async def shared(request: Request, token: str) -> Response:
        log_fields(path="/shared/…")
        try:
            link = await asyncio.to_thread(find_link, request.app.state.scheduler.store.database, token)
        except UnknownLink as error:
            return page_response(request, "message.html", status=404, title=error.title, message=str(error), bare=True)
        response = RedirectResponse(f"/books/{link.job}/review", 303, PAGE_HEADERS)
        secure = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))
        response.set_cookie(
            link_cookie(link.job), token, max_age=_LINK_SECONDS, httponly=True, samesite="lax", secure=secure
        )  # fmt: skip
        return response


async def _reviewer_or_login(request: Request, settings: Settings, id: str) -> Reviewer:
    try:
        return await find_reviewer(request, settings, id)
    except NotAllowed as error:
        if error.status != 401:
            raise
        raise log_in_first(request) from error


def _filter(chapter: str, stage: str, kind: str, guard: str, text: str) -> ReviewFilter:
    """The filter of the form; what it does not know counts as not chosen."""
    number = int(chapter) if chapter.isascii() and chapter.isdigit() and len(chapter) < 10 else None
    known_stage = ReviewStage(stage) if stage in set(ReviewStage) else None
    known_kind = EditKind(kind) if kind in set(EditKind) else None
    return ReviewFilter(number, known_stage, known_kind, guard, text)


def _page(request: Request, reviewer: Reviewer, wanted: ReviewFilter, after: int, *, first_chapter: bool) -> Response:
    reviews = reviews_of(request)
    counts = review_out(reviews, reviewer)
    if first_chapter and wanted.is_empty and counts.chapters:
        wanted = ReviewFilter(chapter=counts.chapters[0].number)
    found = read_page(reviews, reviewer, wanted, after, PAGE_PARAGRAPHS)
    shown, more = found[:PAGE_PARAGRAPHS], len(found) > PAGE_PARAGRAPHS
    token, by_cookie = link_token(request)
    # The link's own token guards the changes of a guest without a session.
    is_guest = reviewer.link and by_cookie and session_of(request.scope) is None
    guest: dict[str, Any] = {"csrf": link_csrf(token)} if is_guest else {}
    return page_response(
        request,
        "review.html",
        nav="books",
        scripts=["review.js"],
        styles=["review.css"],
        job=reviewer.job,
        reviewer=reviewer,
        counts=counts,
        wanted=wanted,
        chapters=counts.chapters,
        paragraphs=[(ReviewParagraphOut.of(one), list(change_pieces(one))) for one in shown],
        following=_following(reviewer.job.id, wanted, counts, shown, more=more),
        stages=STAGES,
        kinds=list(counts.kinds),
        guards=list(counts.guards),
        downloads=DOWNLOADS,
        keys=[one for one in KEYS if one.name != "names" or not reviewer.link],
        strip_marks=strip_marks,
        guard_words=guard_words,
        overrides_in=_overrides_in,
        **guest,
    )


def _overrides_in(paragraph: ReviewParagraphOut) -> list[str]:
    """The names of the invisible characters that make a paragraph read differently from how it is stored."""
    found = _OVERRIDES.intersection(paragraph.source + paragraph.mt + paragraph.text)
    return [f"U+{ord(one):04X}" for one in sorted(found)]


def _following(
    job: str, wanted: ReviewFilter, counts: ReviewOut, shown: list[ReviewParagraph], *, more: bool
) -> tuple[str, str] | None:
    """The address and the name of what comes after this page."""
    query = {
        "chapter": "" if wanted.chapter is None else wanted.chapter,
        "stage": wanted.stage or "",
        "kind": wanted.kind or "",
        "guard": wanted.guard,
        "text": wanted.text,
    }
    address = f"/books/{job}/review?"
    if more:
        return address + urlencode(query | {"after": shown[-1].row.planned.position}), "More of this"
    later = [one for one in counts.chapters if wanted.chapter is not None and one.number > wanted.chapter]
    if not later:
        return None
    return address + urlencode(query | {"chapter": later[0].number}), later[0].title or f"Chapter {later[0].number + 1}"

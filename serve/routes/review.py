"""The routes of a review: read paragraphs with their edits, decide, undo, search and replace, edit again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ape.books.formats import ReviewExport
from ape.errors import Conflict
from ape.jobs.job import Job
from ape.passage.edit import EditKind
from ape.review.export import REVIEW_EXPORTS
from ape.review.filters import ReviewFilter, ReviewStage
from ape.review.paragraph import ReviewConflict, ReviewParagraph
from ape.review.redo import redo_paragraph
from ape.review.replace import TextReplacement, TextSearch, replace_all
from ape.review.store import ReviewStore
from ape.review.summary import summarize
from ape.settings import Settings
from serve.middleware.disconnect import cancel_on_disconnect
from serve.middleware.problems import MEDIA_TYPE, problem_from_error
from serve.middleware.request_body import read_json
from serve.middleware.request_log import log_problem
from serve.middleware.review_quota import ReviewQuota
from serve.routes.job_result import MEDIA_TYPES, JobResultResponse, create_review_result
from serve.routes.openapi import json_body, problem_responses
from serve.routes.reviewer import Reviewer, reviewer_dependency
from serve.scheduler.book_search import BookSearch
from serve.scheduler.worker_threads import WorkerThreads
from serve.schemas.review import (
    DecideRequest,
    RedoParagraphRequest,
    ReplaceRequest,
    ReviewChangesOut,
    ReviewHistoryOut,
    ReviewLogEntryOut,
    ReviewOut,
    ReviewParagraphOut,
    ReviewParagraphsOut,
    SearchRequest,
    TextReplacementOut,
    TextReplacementsOut,
    UndoRequest,
)

T = TypeVar("T")
P = ParamSpec("P")
BodyT = TypeVar("BodyT", bound=BaseModel)
PAGE = 200
_MAX_NUMBER = 2**31 - 1
# With more paragraphs than these, the page is read again instead.
_MAX_CHANGES = 500
Chapter = Annotated[int | None, Query(ge=0, le=_MAX_NUMBER, description="only this chapter")]
Stage = Annotated[ReviewStage | None, Query(description="only paragraphs with an edit in this state, or as named")]
Kind = Annotated[EditKind | None, Query(description="only paragraphs with an edit of this kind")]
Guard = Annotated[str, Query(max_length=100, description="only paragraphs with a finding of this guard")]
Words = Annotated[str, Query(max_length=1000, description="only paragraphs with this text in source, MT or text")]
AfterPosition = Annotated[int, Query(ge=-1, le=_MAX_NUMBER, description="the `next` of the previous page")]
PageSize = Annotated[int, Query(ge=1, le=1000, description="page size")]
AfterChange = Annotated[int, Query(ge=0, le=_MAX_NUMBER, description="the `last_change` that is known")]
ExportKind = Annotated[ReviewExport, Query(description="what to download")]
ParagraphQuery = Annotated[str, Query(min_length=1, max_length=1000)]
_READ: dict[str, Any] = {"tags": ["review"], "responses": problem_responses(401, 403, 404, 422, 503)}
_WRITE: dict[str, Any] = {
    "tags": ["review"],
    "responses": problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 503, 507),
}


def reviews_of(request: Request) -> ReviewStore:
    """The reviews of the service."""
    return ReviewStore(request.app.state.scheduler.store)


async def run_for(request: Request, reviewer: Reviewer, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call that may take long, as it reads a whole book or compares long texts, in the turn of the owner."""
    threads: WorkerThreads = request.app.state.scheduler.threads
    return await threads.run(reviewer.job.owner, call, *args, **kwargs)


async def _refuse_full(request: Request, reviewer: Reviewer) -> None:
    """Raise where the history of the owner's reviews takes too much disk."""
    quota: ReviewQuota = request.app.state.scheduler.review_quota
    await quota.check(reviewer.job.owner)


def add_review_routes(app: FastAPI, settings: Settings) -> None:
    """Add the routes below /v1/jobs/{id}/review."""
    app.add_exception_handler(ReviewConflict, _conflict)
    _add_read_routes(app, settings)
    _add_write_routes(app, settings)
    _add_search_routes(app, settings)
    _add_export_route(app, settings)


async def _conflict(_: Request, error: Exception) -> Response:
    """Respond with the problem and the present state of the paragraphs."""
    assert isinstance(error, ReviewConflict)
    log_problem(error)
    present = [ReviewParagraphOut.of(one).model_dump(mode="json") for one in error.paragraphs[:50]]
    content = problem_from_error(error).to_json() | {"paragraphs": present}
    return JSONResponse(content, error.status, media_type=MEDIA_TYPE)


def _add_read_routes(app: FastAPI, settings: Settings) -> None:
    caller = reviewer_dependency(settings)

    @app.get("/v1/jobs/{id}/review", summary="Get the counts of a review", **_READ)
    async def review(request: Request, reviewer: Reviewer = caller) -> ReviewOut:
        return await run_for(request, reviewer, review_out, reviews_of(request), reviewer)

    @app.get("/v1/jobs/{id}/review/paragraphs", summary="Get paragraphs with their edits, in book order", **_READ)
    async def paragraphs(
        request: Request,
        reviewer: Reviewer = caller,
        chapter: Chapter = None,
        stage: Stage = None,
        kind: Kind = None,
        guard: Guard = "",
        text: Words = "",
        after: AfterPosition = -1,
        limit: PageSize = PAGE,
    ) -> ReviewParagraphsOut:
        wanted = ReviewFilter(chapter, stage, kind, guard, text)
        found = await run_for(request, reviewer, read_page, reviews_of(request), reviewer, wanted, after, limit)
        following = found[limit - 1].row.planned.position if len(found) > limit else None
        return ReviewParagraphsOut(paragraphs=[ReviewParagraphOut.of(one) for one in found[:limit]], next=following)

    @app.get("/v1/jobs/{id}/review/history", summary="Get the decisions on a paragraph, newest first", **_READ)
    async def history(request: Request, paragraph: ParagraphQuery, reviewer: Reviewer = caller) -> ReviewHistoryOut:
        found = await asyncio.to_thread(reviews_of(request).history, reviewer.job.id, paragraph)
        return ReviewHistoryOut(entries=[ReviewLogEntryOut.of(one) for one in found])

    @app.get("/v1/jobs/{id}/review/changes", summary="Get the paragraphs that others decided about", **_READ)
    async def changes(request: Request, reviewer: Reviewer = caller, after: AfterChange = 0) -> ReviewChangesOut:
        return await run_for(request, reviewer, _changes, reviews_of(request), reviewer.job.id, after)


def read_page(
    reviews: ReviewStore, reviewer: Reviewer, wanted: ReviewFilter, after: int, limit: int
) -> list[ReviewParagraph]:
    """One paragraph more than the limit, if there is one."""
    return list(islice(reviews.paragraphs(reviewer.job.id, wanted, after=after), limit + 1))


def review_out(reviews: ReviewStore, reviewer: Reviewer) -> ReviewOut:
    """The counts of a review."""
    job = reviewer.job
    last = reviews.last_change(job.id)
    counts: dict[str, Any] = ReviewOut.counts(summarize(reviews.paragraphs(job.id)))
    return ReviewOut(
        job=job.id, name=job.name, you=reviewer.name, owner=reviewer.link is None, last_change=last, **counts
    )


def _changes(reviews: ReviewStore, job: str, after: int) -> ReviewChangesOut:
    entries = reviews.changes(job, after=after)
    ids = list(dict.fromkeys(one.paragraph for one in entries))[:_MAX_CHANGES]
    found = reviews.some_paragraphs(job, ids)
    return ReviewChangesOut(
        paragraphs=[ReviewParagraphOut.of(one) for one in found], last_change=entries[-1].id if entries else after
    )


def _add_write_routes(app: FastAPI, settings: Settings) -> None:
    caller = reviewer_dependency(settings)

    @app.post(
        "/v1/jobs/{id}/review/decisions",
        summary="Accept, reject, change, comment or dismiss",
        description="All decisions are stored, as one step to undo, or none. 409 has the present `paragraphs`.",
        openapi_extra=json_body(DecideRequest),
        **_WRITE,
    )
    async def decide(request: Request, reviewer: Reviewer = caller) -> ReviewParagraphsOut:
        given = await _body(request, settings, DecideRequest)
        await _refuse_full(request, reviewer)
        decisions = [one.to_decision() for one in given.decisions]
        author = reviewer.author(given.author)
        found = await run_for(request, reviewer, reviews_of(request).decide, reviewer.job, decisions, author=author)
        return _out(found)

    @app.post(
        "/v1/jobs/{id}/review/undo", summary="Undo your last step", openapi_extra=json_body(UndoRequest), **_WRITE
    )
    async def undo(request: Request, reviewer: Reviewer = caller) -> ReviewParagraphsOut:
        given = await _body(request, settings, UndoRequest)
        await _refuse_full(request, reviewer)
        author = reviewer.author(given.author)
        reviews = reviews_of(request)
        found = await run_for(request, reviewer, reviews.undo, reviewer.job, author=author, batch=given.batch)
        return _out(found)

    @app.post(
        "/v1/jobs/{id}/review/redo",
        summary="Have the model edit a paragraph again",
        description="The old version and the decisions on it stay in the history; undo brings them back.",
        openapi_extra=json_body(RedoParagraphRequest),
        tags=["review"],
        responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 502, 503, 504, 507),
    )
    async def redo(request: Request, reviewer: Reviewer = caller) -> ReviewParagraphOut:
        given = await _body(request, settings, RedoParagraphRequest)
        await _refuse_full(request, reviewer)
        engine = getattr(request.app.state, "registry", None)
        if engine is None:
            raise Conflict("No model runs here. Open the book in the studio or the service to have it edited again.")
        found = await redo_paragraph(
            reviews_of(request),
            reviewer.job,
            engine,
            given.paragraph,
            given.version,
            instruction=given.instruction,
            author=reviewer.author(given.author),
        )
        return ReviewParagraphOut.of(found)


def _add_search_routes(app: FastAPI, settings: Settings) -> None:
    caller = reviewer_dependency(settings)

    @app.post(
        "/v1/jobs/{id}/review/search",
        summary="Preview a replacement over the book",
        openapi_extra=json_body(SearchRequest),
        **_WRITE,
    )
    async def search(request: Request, reviewer: Reviewer = caller) -> TextReplacementsOut:
        given = await _body(request, settings, SearchRequest)
        found = await _search(request, reviewer.job, given.to_search())
        return TextReplacementsOut(
            paragraphs=[TextReplacementOut.of(one) for one in found], matches=sum(len(one.matches) for one in found)
        )

    @app.post(
        "/v1/jobs/{id}/review/replace",
        summary="Replace in paragraphs of a preview",
        description="One step to undo. 409, with nothing replaced, if a paragraph changed after the preview.",
        openapi_extra=json_body(ReplaceRequest),
        **_WRITE,
    )
    async def replace(request: Request, reviewer: Reviewer = caller) -> ReviewParagraphsOut:
        given = await _body(request, settings, ReplaceRequest)
        await _refuse_full(request, reviewer)
        chosen = [(one.id, one.version) for one in given.paragraphs]
        author = reviewer.author(given.author)
        found_now = await _search(request, reviewer.job, given.to_search())
        reviews = reviews_of(request)
        made = await run_for(request, reviewer, replace_all, reviews, reviewer.job, found_now, chosen, author=author)
        return _out(made)


async def _search(request: Request, job: Job, search: TextSearch) -> list[TextReplacement]:
    books: BookSearch = request.app.state.scheduler.search
    return await cancel_on_disconnect(request, books.preview(job, search))


async def _body(request: Request, settings: Settings, model: type[BodyT]) -> BodyT:
    """Read the body, after the reviewer is known: nothing is read from strangers."""
    return model.model_validate(await read_json(request, settings))


def _out(found: tuple[ReviewParagraph, ...]) -> ReviewParagraphsOut:
    return ReviewParagraphsOut(paragraphs=[ReviewParagraphOut.of(one) for one in found])


def _add_export_route(app: FastAPI, settings: Settings) -> None:
    """Add GET /v1/jobs/{id}/review/export."""
    caller = reviewer_dependency(settings)

    @app.get(
        "/v1/jobs/{id}/review/export",
        tags=["review"],
        summary="Download the reviewed book, tracked changes, the report or the decisions",
        response_class=Response,
        responses={**_files(), **problem_responses(401, 403, 404, 409, 422, 503)},
    )
    async def export(request: Request, reviewer: Reviewer = caller, format: ExportKind = "reviewed-book") -> Response:
        folder = request.app.state.scheduler.folder
        found = await run_for(
            request, reviewer, create_review_result, reviews_of(request), reviewer.job, format, folder
        )
        return JobResultResponse(found)


def _files() -> dict[int | str, dict[str, Any]]:
    kinds = {kind.media_type.partition(";")[0] for kind in REVIEW_EXPORTS.values()} | MEDIA_TYPES
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in sorted(kinds) if kind}
    headers = {"Content-Disposition": {"schema": {"type": "string"}, "description": "with the file's name"}}
    return {200: {"description": "The file.", "content": content, "headers": headers}}

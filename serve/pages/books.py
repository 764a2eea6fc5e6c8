"""The pages of books: upload, plan and names, progress, downloads.

Each action is a form that works without JavaScript and does what a route of the API does. The page of a book links to
GET /books/{id}/review if the application has that page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from ape.errors import ApeError
from ape.jobs.job import Job, JobState
from ape.ledger.entity import Entity, EntityKind, EntityStatus
from ape.settings import Settings
from ape.text.languages import LANGUAGE_NAMES, language_name
from serve.middleware.auth import owner_of
from serve.pages.book_words import BOOK_FILTERS, DOWNLOADS
from serve.pages.responses import PAGE_HEADERS, has_page, page_auth, page_response
from serve.routes.books import receive_book
from serve.routes.jobs import details_of, list_jobs, plan_of
from serve.routes.names import ledger_of
from serve.scheduler.scheduler import JobScheduler
from serve.schemas.jobs import JobDetails

REVIEW_PATH = "/books/{id}/review"
PAGE_SIZE = 50
# Names that are shown to be confirmed; the rest stays proposed, and can be opened.
SHOWN_NAMES = 40
# Names on the page, hidden ones included; a book may have thousands.
LISTED_NAMES = 500

Action = Literal["start", "pause", "resume", "cancel", "delete"]


def add_book_pages(app: FastAPI, settings: Settings) -> None:
    """Add GET and POST /books, GET /books/{id} and POST /books/{id}/{action}."""
    auth = [page_auth(settings)]
    languages = sorted(LANGUAGE_NAMES.items(), key=lambda pair: pair[1])

    @app.get("/books", include_in_schema=False, dependencies=auth)
    async def books(request: Request, after: str | None = None) -> Response:
        scheduler, owner = _scheduler(request), owner_of(request, settings)
        if after is not None:
            await scheduler.job(after, owner)
        listed = await asyncio.to_thread(list_jobs, scheduler, owner, PAGE_SIZE, after)
        return page_response(
            request,
            "books.html",
            nav="books",
            scripts=["upload.js"],
            jobs=listed.jobs,
            next=listed.next,
            languages=languages,
            max_bytes=settings.max_book_bytes,
            **BOOK_FILTERS,
        )

    @app.post("/books", include_in_schema=False, dependencies=auth)
    async def upload(request: Request) -> Response:
        return _redirect(f"/books/{(await receive_book(request, settings)).id}")

    @app.get("/books/{id}", include_in_schema=False, dependencies=auth)
    async def book(request: Request, id: str) -> Response:
        scheduler = _scheduler(request)
        job = await scheduler.job(id, owner_of(request, settings))
        details = await asyncio.to_thread(details_of, scheduler, job)
        is_new = is_unstarted(details)
        plan = await scheduler.threads.run(job.owner, plan_of, scheduler, job, settings) if is_new else None
        # In a thread: reading the names of a book may take seconds.
        shown, rest, unlisted = await scheduler.threads.run(job.owner, _names_to_confirm, job)
        return page_response(
            request,
            "book.html",
            nav="books",
            scripts=["book.js"],
            job=details,
            plan=plan,
            is_new=is_new,
            names=shown,
            more_names=rest,
            unlisted_names=unlisted,
            has_review=has_page(request, REVIEW_PATH),
            downloads=DOWNLOADS,
            source_name=language_name(details.source_language),
            target_name=language_name(details.target_language),
            **BOOK_FILTERS,
        )

    @app.post("/books/{id}/{action}", include_in_schema=False, dependencies=auth)
    async def act(request: Request, id: str, action: Action) -> Response:
        scheduler = _scheduler(request)
        job = await scheduler.job(id, owner_of(request, settings))
        steps: dict[Action, Callable[[Job], Awaitable[object]]] = {
            "start": scheduler.resume,
            "pause": scheduler.pause,
            "resume": scheduler.resume,
            "cancel": scheduler.cancel,
            "delete": scheduler.remove,
        }
        await steps[action](job)
        return _redirect("/books" if action == "delete" else f"/books/{id}")


def is_unstarted(job: JobDetails) -> bool:
    """Whether the job was planned only: it waits for its owner."""
    counts = job.counts
    return job.state is JobState.PAUSED and not (counts.edited or counts.unchanged or counts.rejected)


def _names_to_confirm(job: Job) -> tuple[list[Entity], list[Entity], int]:
    """The names of a book, people first and the most frequent first, those too many to show at once, and how many more.

    Called in a thread.
    """
    try:
        entities = ledger_of(job).entities
    except ApeError:
        return [], [], 0
    known = [one for one in entities if one.target and one.status is not EntityStatus.IGNORED]
    known.sort(key=lambda one: (one.kind is not EntityKind.PERSON, -one.count))
    return known[:SHOWN_NAMES], known[SHOWN_NAMES:LISTED_NAMES], max(0, len(known) - LISTED_NAMES)


def _redirect(to: str) -> Response:
    return RedirectResponse(to, 303, PAGE_HEADERS)


def _scheduler(request: Request) -> JobScheduler:
    scheduler: JobScheduler = request.app.state.scheduler
    return scheduler

"""Who reviews a book: its owner, or the holder of a link for this one book."""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, Request

from ape.errors import UnknownJob
from ape.files.hashing import hash_text
from ape.jobs.job import Job
from ape.review.links import TOKEN_PREFIX, ReviewLink, UnknownLink, find_link
from ape.settings import Settings
from serve.middleware.auth import authenticate, owner_of
from serve.middleware.problems import NotAllowed
from serve.middleware.sessions import session_of
from serve.scheduler.scheduler import JobScheduler

DEFAULT_NAME = "owner"
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Somebody who may review a job; `link` is set for a guest."""

    job: Job
    name: str
    link: ReviewLink | None = None

    def author(self, given: str) -> str:
        """The name that decisions carry: a guest has that of the link."""
        return self.name if self.link else given.strip() or self.name


def link_csrf(token: str) -> str:
    """The token against forged requests that pages of a link send with every change."""
    return hash_text(f"csrf {token}", errors="replace")[:32]


def link_cookie(job: str) -> str:
    """The name of the cookie for the link to a book: one person may review several."""
    return f"ape-review-{job}"


def link_token(request: Request) -> tuple[str, bool]:
    """The secret of a link to the book of the request, and whether it came by cookie; "" if there is none."""
    header = request.headers.get("authorization", "")
    given = header.removeprefix("Bearer ").strip()
    if given.startswith(TOKEN_PREFIX):
        return given, False
    cookie = request.cookies.get(link_cookie(request.path_params.get("id", "")), "")
    return (cookie, True) if cookie.startswith(TOKEN_PREFIX) and not header else ("", False)


async def find_reviewer(request: Request, settings: Settings, id: str) -> Reviewer:
    """The reviewer of a job; raises UnknownJob for everybody else's jobs.

    A link counts only for its own book: for others the key or the session decides who its holder is.
    """
    scheduler: JobScheduler = request.app.state.scheduler
    token, by_cookie = link_token(request)
    link = await asyncio.to_thread(_find, scheduler, token) if token else None
    if isinstance(link, ReviewLink) and link.job == id:
        # With a session as well, `SessionMiddleware` has compared the token of the session.
        if by_cookie and request.method not in _SAFE_METHODS and session_of(request.scope) is None:
            _refuse_forged(request, token)
        job = await asyncio.to_thread(scheduler.store.job, id)
        if not scheduler.owns(job):
            raise UnknownJob(f"There is no job {id!r}.")
        return Reviewer(job, link.name, link)
    if token and not by_cookie:
        raise link if isinstance(link, UnknownLink) else UnknownJob(f"There is no job {id!r}.")
    try:
        authenticate(request, settings)
    except NotAllowed as error:
        if isinstance(link, UnknownLink) and error.status == 401:
            raise link from error  # says that it was revoked or has expired
        raise
    return Reviewer(await scheduler.job(id, owner_of(request, settings)), DEFAULT_NAME)


def reviewer_dependency(settings: Settings) -> Any:
    """The reviewer as a dependency of a route: strangers are refused before their parameters are looked at."""

    async def found(request: Request, id: str) -> Reviewer:
        return await find_reviewer(request, settings, id)

    return Depends(found)


def _find(scheduler: JobScheduler, token: str) -> ReviewLink | UnknownLink:
    """The link of a token, or why it opens nothing."""
    try:
        return find_link(scheduler.store.database, token)
    except UnknownLink as error:
        return error


def _refuse_forged(request: Request, token: str) -> None:
    if not hmac.compare_digest(request.headers.get("x-csrf-token", "").encode(), link_csrf(token).encode()):
        raise NotAllowed("This change did not come from a page of yours. Reload the page and try again.", status=403)

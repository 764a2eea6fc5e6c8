"""The review of one job of the command line, on this machine, without a model: `ape book review`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
from fastapi import FastAPI

from ape.errors import UnknownJob
from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.review.links import create_link, revoke_link
from ape.settings import Settings
from serve.middleware.http_exchange import wrap_app
from serve.middleware.problems import install_problem_handlers
from serve.middleware.review_quota import ReviewQuota
from serve.middleware.security_headers import SecurityHeaders
from serve.pages.responses import add_static_routes, problem_page
from serve.pages.review import add_review_pages
from serve.routes.review import add_review_routes
from serve.run import address_of, listen
from serve.scheduler.book_search import BookSearch
from serve.scheduler.worker_threads import WorkerThreads


class OneJob:
    """Stands for the scheduler where nothing is scheduled: one job, whose review is open."""

    def __init__(self, store: JobStore, id: str, folder: Path) -> None:
        self.store = store
        self.folder = folder
        self.search = BookSearch(store.url)
        self.threads = WorkerThreads()
        self.review_quota = ReviewQuota(store, None)
        self._id = id

    def owns(self, job: Job) -> bool:
        """Whether this is the job."""
        return job.id == self._id

    async def job(self, id: str, owner: str) -> Job:
        """Refuse: the review is entered by its link alone."""
        raise UnknownJob(f"There is no job {id!r}.")


def create_review_app(settings: Settings, jobs: OneJob) -> FastAPI:
    """Build an application of the review page and its API."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield

    app = FastAPI(title="ape book review", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.scheduler, app.state.problem_page = jobs, problem_page
    install_problem_handlers(app)
    wrap_app(app, SecurityHeaders)
    add_static_routes(app)
    add_review_routes(app, settings)
    add_review_pages(app, settings)
    return app


def serve_review(
    settings: Settings, store: JobStore, job: Job, *, reviewer: str, opened: Callable[[str], None]
) -> None:
    """Serve the review until interrupted; `opened` receives its secret address, which is no longer valid afterwards."""
    link, token = create_link(store.database, job.id, reviewer, days=1)
    try:
        with listen(settings) as listener, TemporaryDirectory(prefix="ape-review-") as folder:
            app = create_review_app(settings, OneJob(store, job.id, Path(folder)))
            opened(f"{address_of(listener)}/shared/{token}")
            config = uvicorn.Config(app, log_config=None, server_header=False, access_log=False, proxy_headers=False)
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        revoke_link(store.database, job.id, link.id)

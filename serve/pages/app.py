"""The pages as an application of its own (`ape ab serve`) or as part of the service (`ape serve`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response

from ape.settings import Settings
from serve.middleware.auth import authenticate_admin
from serve.middleware.http_exchange import wrap_app
from serve.middleware.problems import install_problem_handlers
from serve.middleware.request_log import RequestLog
from serve.middleware.security_headers import SecurityHeaders
from serve.middleware.sessions import PageSessions, SessionMiddleware
from serve.pages.api_docs import add_api_docs_routes
from serve.pages.books import add_book_pages
from serve.pages.comparisons import add_comparison_routes
from serve.pages.login import add_login_routes
from serve.pages.passage import add_passage_page
from serve.pages.rater import add_rater_routes
from serve.pages.responses import add_static_routes, page_auth, page_response, problem_page
from serve.pages.results import add_result_routes
from serve.pages.review import add_review_pages
from serve.pages.start import add_start_routes
from serve.pages.trial_store import LazyTrialStore

if TYPE_CHECKING:
    from eval.human.trial_store import TrialStore


def create_pages_app(
    settings: Settings, trials: TrialStore | None = None, *, log: Callable[[str], None] = lambda _: None
) -> FastAPI:
    """Build an application of the pages alone, without a model.

    Trials are read from the job store of the settings unless `trials` is given. `log` receives one line of JSON per
    request.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            trial_store.close()

    app = FastAPI(title="ape ab", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    install_problem_handlers(app)
    sessions = PageSessions(settings)
    wrap_app(
        app, SecurityHeaders, lambda inner: RequestLog(inner, log), lambda inner: SessionMiddleware(inner, sessions)
    )
    trial_store = add_pages(app, settings, sessions, trials)
    return app


def add_pages(
    app: FastAPI, settings: Settings, sessions: PageSessions, trials: TrialStore | None = None
) -> LazyTrialStore:
    """Add the pages to an application, and return the store to close when it stops."""
    trial_store, admin_auth = LazyTrialStore(settings, trials), page_auth(settings, authenticate_admin)
    app.state.problem_page = problem_page
    add_static_routes(app)
    add_login_routes(app, settings, sessions)
    if app.openapi_url:
        add_api_docs_routes(app)
        for add_routes in (add_start_routes, add_passage_page, add_book_pages, add_review_pages):
            add_routes(app, settings)
    else:
        add_evaluation_start(app)
    add_rater_routes(app, settings, trial_store)
    add_result_routes(app, trial_store, auth=admin_auth)
    add_comparison_routes(app, settings.comparisons_folder, auth=admin_auth)
    return trial_store


def add_evaluation_start(app: FastAPI) -> None:
    """Add GET / and /evaluation to an application without a model."""

    @app.get("/", include_in_schema=False)
    @app.get("/evaluation", include_in_schema=False)
    async def evaluation(request: Request) -> Response:
        return page_response(request, "evaluation.html", nav="evaluation")

"""The pages as an application of its own (`ape ab serve`) or as part of the service (`ape serve`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Response

from ape.settings import Settings
from serve.middleware.http_exchange import wrap_app
from serve.middleware.problems import install_problem_handlers
from serve.middleware.request_log import RequestLog
from serve.pages.api_docs import add_api_docs_routes
from serve.pages.comparisons import add_comparison_routes
from serve.pages.login import PageLogin, add_login_routes
from serve.pages.rater import add_rater_routes
from serve.pages.responses import page_response
from serve.pages.results import add_result_routes
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
    wrap_app(app, lambda inner: RequestLog(inner, log))
    trial_store = add_pages(app, settings, trials)
    return app


def add_pages(app: FastAPI, settings: Settings, trials: TrialStore | None = None) -> LazyTrialStore:
    """Add the pages to an application, and return the store to close when it stops."""
    trial_store, login = LazyTrialStore(settings, trials), PageLogin(settings)
    has_api = bool(app.openapi_url)

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return page_response("home.html", has_api=has_api)

    if has_api:
        add_api_docs_routes(app)
    add_login_routes(app, login)
    add_rater_routes(app, settings, trial_store)
    add_result_routes(app, trial_store, auth=Depends(login.check))
    add_comparison_routes(app, settings.comparisons_folder, auth=Depends(login.check))
    return trial_store

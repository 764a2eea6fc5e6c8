"""The pages as an application of their own (`ape ab serve`), or as a part of the service (`ape serve`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Response

from ape.settings import Settings
from serve.middleware.http_exchange import wrap_app
from serve.middleware.problems import install_problem_handlers
from serve.middleware.request_log import RequestLog
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
    """The pages alone, without a model: for raters, and for whoever runs the tests.

    The trials are those of the job store of the settings, unless some are given. `log` gets a JSON line a request.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            shelf.close()

    app = FastAPI(title="ape ab", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    install_problem_handlers(app)
    wrap_app(app, lambda inner: RequestLog(inner, log))
    shelf = add_pages(app, settings, trials)
    return app


def add_pages(app: FastAPI, settings: Settings, trials: TrialStore | None = None) -> LazyTrialStore:
    """The pages, as routes of an application, which closes the shelf when it stops."""
    shelf, door = LazyTrialStore(settings, trials), PageLogin(settings)

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return page_response("home.html", openapi=bool(app.openapi_url))

    add_login_routes(app, door)
    add_rater_routes(app, settings, shelf)
    add_result_routes(app, shelf, seeing=Depends(door.check))
    add_comparison_routes(app, settings.comparisons_folder, seeing=Depends(door.check))
    return shelf

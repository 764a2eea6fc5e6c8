"""The application of the HTTP service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib import metadata

from fastapi import FastAPI, Request, Response

from ape.engines import Engine
from ape.engines.registry import ModelRegistry
from ape.jobs.batch_store import BatchStore
from ape.jobs.store import JobStore
from ape.settings import Settings
from serve.middleware.admission import AdmissionLimit
from serve.middleware.disconnect import ClientGone
from serve.middleware.http_exchange import CLIENT_CLOSED_REQUEST, wrap_app
from serve.middleware.metrics import ServiceMetrics
from serve.middleware.problems import install_problem_handlers
from serve.middleware.rate_limit import RateLimit
from serve.middleware.request_log import RequestLog
from serve.middleware.security_headers import SecurityHeaders
from serve.middleware.sessions import PageSessions, SessionMiddleware
from serve.pages import add_pages
from serve.routes.batches import add_batch_routes
from serve.routes.books import add_book_routes
from serve.routes.jobs import add_job_routes
from serve.routes.languages import add_language_routes
from serve.routes.models import add_model_routes
from serve.routes.monitoring import add_monitoring_routes
from serve.routes.names import add_names_routes
from serve.routes.openapi import complete_openapi
from serve.routes.post_edit import add_post_edit_route
from serve.routes.review import add_review_routes
from serve.routes.review_links import add_review_link_routes
from serve.scheduler.batch_runner import BatchRunner
from serve.scheduler.passage_handler import PassageHandler
from serve.scheduler.scheduler import JobScheduler

ROUTES = (
    add_post_edit_route,
    add_language_routes,
    add_book_routes,
    add_job_routes,
    add_names_routes,
    add_review_routes,
    add_review_link_routes,
    add_batch_routes,
    add_model_routes,
    add_monitoring_routes,
)


def create_app(
    settings: Settings,
    engine: AbstractAsyncContextManager[Engine],
    *,
    store: JobStore | None = None,
    log: Callable[[str], None] = lambda _: None,
    entry_token: str = "",
) -> FastAPI:
    """Build the application; the engine and the job store are open while it runs.

    A `store` that is passed in is left open at the end. `log` receives one line of JSON per request.
    With an `entry_token`, only the browser that opens /enter/TOKEN first gets in.
    """
    queue = AdmissionLimit(settings.max_queue)
    metrics = ServiceMetrics(
        queue=queue,
        engine=lambda: app.state.registry.health(),
        adapters=lambda: app.state.registry.available_adapters,
        jobs=lambda: app.state.scheduler.states,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with engine as opened, _open_store(store, settings) as jobs:
            registry = opened if isinstance(opened, ModelRegistry) else ModelRegistry(opened, aliases=settings.aliases)
            for _ in registry.entries:
                metrics.record_adapter("loaded")  # before `on_change` was set
            registry.on_change = metrics.record_adapter
            app.state.registry = registry
            app.state.handler = PassageHandler(registry, settings, metrics)
            app.state.scheduler = scheduler = JobScheduler(jobs, registry, settings, metrics)
            batches = await asyncio.to_thread(BatchStore, jobs.url)
            app.state.batches = runner = BatchRunner(
                batches, app.state.handler, settings, scheduler.concurrency_limit, scheduler.folder / "batches"
            )
            try:
                async with scheduler.running(), runner.running():
                    yield
            finally:
                trial_store.close()
                batches.close()

    app = FastAPI(
        title="ape",
        summary="Post-edits machine-translated literature, or returns it unchanged with the reasons.",
        version=metadata.version("ape-books"),
        lifespan=lifespan,
        docs_url=None,  # these pages load their scripts from other servers
        redoc_url=None,
    )
    app.state.queue, app.state.metrics = queue, metrics
    app.state.rate_limit = RateLimit(settings.rate_limit)
    install_problem_handlers(app)
    app.add_exception_handler(ClientGone, _client_closed_request)
    sessions = PageSessions(settings, entry_token=entry_token)
    wrap_app(
        app,
        SecurityHeaders,
        lambda inner: RequestLog(inner, log),
        metrics.middleware,
        lambda inner: SessionMiddleware(inner, sessions),
    )
    for add_routes in ROUTES:
        add_routes(app, settings)
    trial_store = add_pages(app, settings, sessions)
    # Made once: anybody may ask for it, and it takes a while.
    app.openapi = cache(lambda: complete_openapi(FastAPI.openapi(app), settings))  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _open_store(store: JobStore | None, settings: Settings) -> AsyncIterator[JobStore]:
    if store is not None:
        yield store
        return
    opened = await asyncio.to_thread(JobStore, settings.jobs_url)
    try:
        yield opened
    finally:
        opened.close()


async def _client_closed_request(_: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)

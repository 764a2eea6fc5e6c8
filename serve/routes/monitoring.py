"""The routes for monitoring: health, readiness and metrics."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI, Request, Response

from ape.engines.registry import ModelRegistry
from ape.errors import EngineTimeout, EngineUnavailable, StoreError
from ape.settings import Settings
from serve.middleware.auth import auth_dependency, authenticate
from serve.routes.openapi import problem_responses, text_response
from serve.schemas.health import Health, Readiness

READY_SECONDS = 5.0


def add_monitoring_routes(app: FastAPI, settings: Settings) -> None:
    """Add GET /healthz, /readyz, /metrics and /metrics/engine."""

    @app.get("/healthz", tags=["operation"], summary="Check that the service is alive")
    async def healthz() -> Health:
        return Health()

    @app.get(
        "/readyz",
        tags=["operation"],
        summary="Check that the engine and the job database answer",
        responses=problem_responses(502, 503, 504),
    )
    async def readyz(request: Request) -> Readiness:
        registry: ModelRegistry = request.app.state.registry
        try:
            await asyncio.wait_for(asyncio.to_thread(request.app.state.scheduler.store.check), READY_SECONDS)
        except TimeoutError as error:
            raise StoreError(f"The job database did not answer within {READY_SECONDS:g} seconds.") from error
        try:
            models = await asyncio.wait_for(registry.models(), READY_SECONDS)
        except TimeoutError as error:
            raise EngineTimeout(f"The model server did not answer within {READY_SECONDS:g} seconds.") from error
        if not models:
            raise EngineUnavailable("The model server serves no model.")
        return Readiness(models=[model.name for model in models], restarts=registry.health().restarts)

    @app.get(
        "/metrics",
        tags=["operation"],
        summary="Get the metrics of the service",
        response_class=Response,
        responses=text_response("Prometheus text format, or OpenMetrics if accepted.") | problem_responses(401, 403),
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def metrics(request: Request) -> Response:
        content, kind = request.app.state.metrics.exposition(request.headers.get("accept", ""))
        return Response(content, media_type=kind)

    @app.get(
        "/metrics/engine",
        tags=["operation"],
        summary="Get the metrics of vLLM",
        response_class=Response,
        responses=text_response("Prometheus' text.") | problem_responses(401, 403, 404, 502, 503, 504),
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def engine_metrics(request: Request) -> Response:
        return Response(await request.app.state.registry.metrics(), media_type="text/plain; version=0.0.4")

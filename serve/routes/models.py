"""The routes of models: list, load and unload adapters, set and remove aliases."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi import Path as InPath
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ape.engines import Model
from ape.engines.registry import ModelRegistry
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.settings import Settings
from prompts import prompt_format
from serve.middleware.auth import auth_dependency, authenticate, authenticate_admin
from serve.middleware.request_body import read_json
from serve.middleware.request_log import log_fields
from serve.routes.openapi import problem_responses
from serve.schemas.models import NAME_PATTERN, AdapterOut, AliasOut, AliasRequest, LoadRequest, ModelOut, ModelsResponse

NameInPath = Annotated[str, InPath(pattern=NAME_PATTERN)]


def add_model_routes(app: FastAPI, settings: Settings) -> None:
    """Add GET, POST and DELETE /v1/models, PUT and DELETE /v1/aliases."""
    auth, admin_auth = auth_dependency(settings, authenticate), auth_dependency(settings, authenticate_admin)

    @app.get(
        "/v1/models",
        tags=["models"],
        summary="List the models",
        responses=problem_responses(401, 403, 502, 503, 504),
        dependencies=[auth],
    )
    async def models(request: Request) -> ModelsResponse:
        registry = _registry(request)
        served = await registry.models()
        return ModelsResponse(
            models=[_model_out(model, registry, first=place == 0) for place, model in enumerate(served)],
            aliases={DEFAULT_MODEL_NAME: served[0].name, **registry.aliases} if served else {},
        )

    @app.post(
        "/v1/models",
        tags=["models"],
        summary="Load an adapter",
        description="Its files are checked first; an adapter that can't be served is refused with the reason.",
        response_model=ModelOut,
        status_code=201,
        responses={
            200: {"model": ModelOut, "description": "Already loaded with the same content."},
            **problem_responses(400, 401, 403, 409, 413, 415, 422, 502, 503, 504, 507),
        },
        openapi_extra=_body(LoadRequest),
        dependencies=[admin_auth],
    )
    async def load(request: Request) -> Response:
        wish = LoadRequest.model_validate(await read_json(request, settings))
        log_fields(adapter=wish.name)
        entry, is_new = await _registry(request).load(wish.name, wish.directory)
        model = _model_out(entry.model, _registry(request))
        return JSONResponse(model.model_dump(mode="json"), 201 if is_new else 200)

    @app.delete(
        "/v1/models/{name}",
        tags=["models"],
        summary="Unload an adapter",
        description="New passages no longer use it; passages in progress are finished first.",
        status_code=204,
        responses=problem_responses(401, 403, 404, 409, 422, 502, 503, 504),
        dependencies=[admin_auth],
    )
    async def unload(request: Request, name: NameInPath) -> None:
        log_fields(adapter=name)
        await _registry(request).unload(name)

    @app.put(
        "/v1/aliases/{alias}",
        tags=["models"],
        summary="Point an alias to a model",
        description="Applies from the next passage on; passages in progress keep their model.",
        responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 502, 503, 504),
        openapi_extra=_body(AliasRequest),
        dependencies=[admin_auth],
    )
    async def point(request: Request, alias: NameInPath) -> AliasOut:
        wish = AliasRequest.model_validate(await read_json(request, settings))
        log_fields(alias=alias, model=wish.model)
        await _registry(request).set_alias(alias, wish.model)
        return AliasOut(alias=alias, model=wish.model)

    @app.delete(
        "/v1/aliases/{alias}",
        tags=["models"],
        summary="Remove an alias",
        status_code=204,
        responses=problem_responses(401, 403, 404, 422),
        dependencies=[admin_auth],
    )
    async def drop(request: Request, alias: NameInPath) -> None:
        _registry(request).remove_alias(alias)


def _body(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _model_out(model: Model, registry: ModelRegistry, *, first: bool = False) -> ModelOut:
    entry = next((entry for entry in registry.entries if entry.adapter.name == model.name), None)
    return ModelOut(
        name=model.name,
        kind="adapter" if entry else "base",
        default=first,
        window=model.window,
        prompt=prompt_format(model.format).fingerprint,
        adapter=AdapterOut.of(entry) if entry else None,
    )


def _registry(request: Request) -> ModelRegistry:
    registry: ModelRegistry = request.app.state.registry
    return registry

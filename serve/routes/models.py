"""The routes of the models: list them, load and unload adapters, and let an alias stand for another one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Request, Response
from fastapi import Path as InPath
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ape.adapters.directory import NAME_PATTERN as ADAPTER_NAME
from ape.engines import Model
from ape.engines.registry import ModelRegistry
from ape.engines.registry_entries import AdapterEntry
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.settings import Settings
from prompts import prompt_format
from serve.middleware.auth import auth_dependency, authenticate, authenticate_admin
from serve.middleware.request_log import log_fields
from serve.routes.openapi import problem_responses
from serve.routes.passages import read_json

NAME = f"^{ADAPTER_NAME}$"
Name = Annotated[str, Field(pattern=NAME, description="letters, digits, '.', '_' and '-'")]
NameInPath = Annotated[str, InPath(pattern=NAME)]


class AdapterOut(BaseModel):
    """What an adapter's own files say of it."""

    base: str = Field(description="the model that it was trained on")
    languages: list[str]
    rank: int
    revision: str = Field(description="a hash of its weights, and of what else decides its answers")
    parity: dict[str, JsonValue] | None = Field(
        description="served outputs against those of the training library"
    )
    data: str | None = Field(description="hash of the manifest of its training data")
    training: dict[str, JsonValue]
    in_use: int = Field(description="passages at work with it")
    failure: str | None = Field(description="why it can't be asked at the moment")

    @classmethod
    def of(cls, entry: AdapterEntry) -> AdapterOut:
        """As it is now."""
        card = entry.adapter.card
        return cls(
            base=card.base.model,
            languages=list(card.languages),
            rank=entry.adapter.rank,
            revision=entry.adapter.revision,
            parity=card.parity,
            data=card.data,
            training=card.training,
            in_use=entry.in_use,
            failure=entry.failure or None,
        )


class ModelOut(BaseModel):
    """A model that can be asked for by name."""

    name: str
    kind: Literal["base", "adapter"]
    default: bool
    window: int | None = Field(description="context length in tokens, where the engine tells")
    prompt: str = Field(description="the format that it is asked in, with its hash")
    adapter: AdapterOut | None = None


class ModelsResponse(BaseModel):
    """All models, the default first, and the aliases."""

    models: list[ModelOut]
    aliases: dict[str, str]


class LoadRequest(BaseModel):
    """An adapter to load, from one of the directories that the service may take them from."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"name": "par3-fr", "directory": "par3-fr/v2"}]},
    )

    name: Name = Field(description="what it will be asked for by")
    directory: str | None = Field(
        None, min_length=1, max_length=1000, description="within those directories; its name if left out"
    )


class AliasRequest(BaseModel):
    """What an alias is to stand for."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"model": "par3-fr"}]}
    )

    model: str = Field(min_length=1, max_length=200, description="a name of GET /v1/models")


class AliasOut(BaseModel):
    """An alias and what it stands for."""

    alias: str
    model: str


def add_model_routes(app: FastAPI, settings: Settings) -> None:
    """GET, POST and DELETE /v1/models, PUT and DELETE /v1/aliases."""
    seeing, changing = auth_dependency(settings, authenticate), auth_dependency(settings, authenticate_admin)

    @app.get(
        "/v1/models",
        tags=["models"],
        summary="The models that can be asked for",
        responses=problem_responses(401, 403, 502, 503, 504),
        dependencies=[seeing],
    )
    async def models(request: Request) -> ModelsResponse:
        roster = _registry(request)
        served = await roster.models()
        return ModelsResponse(
            models=[_model_out(model, roster, first=place == 0) for place, model in enumerate(served)],
            aliases={DEFAULT_MODEL_NAME: served[0].name, **roster.aliases} if served else {},
        )

    @app.post(
        "/v1/models",
        tags=["models"],
        summary="Load an adapter",
        description="Its files are checked first: one that can't be served is refused, with the reason.",
        response_model=ModelOut,
        status_code=201,
        responses={
            200: {"model": ModelOut, "description": "It was loaded already, with the same content."},
            **problem_responses(400, 401, 403, 409, 413, 415, 422, 502, 503, 504, 507),
        },
        openapi_extra=_body(LoadRequest),
        dependencies=[changing],
    )
    async def load(request: Request) -> Response:
        wish = LoadRequest.model_validate(await read_json(request, settings))
        log_fields(adapter=wish.name)
        entry, is_new = await _registry(request).load(wish.name, wish.directory)
        shown = _model_out(entry.model, _registry(request))
        return JSONResponse(shown.model_dump(mode="json"), 201 if is_new else 200)

    @app.delete(
        "/v1/models/{name}",
        tags=["models"],
        summary="Unload an adapter",
        description="New passages no longer get it; those at work with it are finished first.",
        status_code=204,
        responses=problem_responses(401, 403, 404, 409, 422, 502, 503, 504),
        dependencies=[changing],
    )
    async def unload(request: Request, name: NameInPath) -> None:
        log_fields(adapter=name)
        await _registry(request).unload(name)

    @app.put(
        "/v1/aliases/{alias}",
        tags=["models"],
        summary="Let an alias stand for a model",
        description="From the next passage on. Those under way stay with the model they began with: none fails.",
        responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 502, 503, 504),
        openapi_extra=_body(AliasRequest),
        dependencies=[changing],
    )
    async def point(request: Request, alias: NameInPath) -> AliasOut:
        wish = AliasRequest.model_validate(await read_json(request, settings))
        log_fields(alias=alias, model=wish.model)
        await _registry(request).point(alias, wish.model)
        return AliasOut(alias=alias, model=wish.model)

    @app.delete(
        "/v1/aliases/{alias}",
        tags=["models"],
        summary="Forget an alias",
        status_code=204,
        responses=problem_responses(401, 403, 404, 422),
        dependencies=[changing],
    )
    async def drop(request: Request, alias: NameInPath) -> None:
        _registry(request).drop(alias)


def _body(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _model_out(model: Model, roster: ModelRegistry, *, first: bool = False) -> ModelOut:
    entry = next((entry for entry in roster.entries if entry.adapter.name == model.name), None)
    return ModelOut(
        name=model.name,
        kind="adapter" if entry else "base",
        default=first,
        window=model.window,
        prompt=prompt_format(model.format).fingerprint,
        adapter=AdapterOut.of(entry) if entry else None,
    )


def _registry(request: Request) -> ModelRegistry:
    roster: ModelRegistry = request.app.state.roster
    return roster

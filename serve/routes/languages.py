"""The route POST /v1/languages: detect the languages of a passage."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field

from ape.settings import Settings
from ape.text.languages import language_name, resolve_languages
from serve.middleware.auth import auth_dependency, authenticate
from serve.middleware.request_body import read_json
from serve.routes.openapi import problem_responses

# The beginning decides.
_MAX_CHARACTERS = 5_000


class LanguagesRequest(BaseModel):
    """A passage and its machine translation."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"source": "Il neigeait.", "mt": "It snowed."}]}
    )

    source: str = Field(min_length=1, max_length=20_000)
    mt: str = Field(min_length=1, max_length=20_000)


class LanguagesOut(BaseModel):
    """The languages as codes and English names."""

    source_language: str
    target_language: str
    source_name: str
    target_name: str


def add_language_routes(app: FastAPI, settings: Settings) -> None:
    """Add POST /v1/languages."""

    @app.post(
        "/v1/languages",
        tags=["post-edit"],
        summary="Detect the languages of a passage",
        description="The same detection as in a post-edit without languages.",
        responses=problem_responses(400, 401, 403, 413, 415, 422),
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": LanguagesRequest.model_json_schema()}},
            }
        },
        dependencies=[auth_dependency(settings, authenticate)],
    )
    async def languages(request: Request) -> LanguagesOut:
        given = LanguagesRequest.model_validate(await read_json(request, settings))
        source, target = await asyncio.to_thread(
            resolve_languages, given.source[:_MAX_CHARACTERS], given.mt[:_MAX_CHARACTERS]
        )
        return LanguagesOut(
            source_language=source,
            target_language=target,
            source_name=language_name(source),
            target_name=language_name(target),
        )

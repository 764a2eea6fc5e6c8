"""The start page: three ways in, and what the running model can do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fastapi import FastAPI, Request, Response

from ape.engines.registry import ModelRegistry
from ape.errors import ApeError
from ape.models.catalogue import DEFAULT_MODEL, LARGE_MODEL, TUNED_MODEL
from ape.settings import Settings
from serve.pages.responses import page_auth, page_response

_MODEL_SECONDS = 5.0
_TINY_MODELS = frozenset({DEFAULT_MODEL, TUNED_MODEL})
_ABILITIES = {
    LARGE_MODEL: "It runs on this machine and mends plain faults: names, pronouns, wrong words. It is careful, so most "
    "paragraphs stay as they are, and it does not rewrite for style."
}
_OTHER_ABILITY = "Its edits pass the same checks as those of any model. How good they are depends on the model."
_TINY_ABILITY = "It runs anywhere, and shows how the studio works."
_TINY_WARNING = (
    "This is the tiny model. It leaves most faults of a translation as they are, and is meant for trying things out."
)


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The default model in plain words.

    `warning` says what it can't do, or why there is no model; `remedy` names a better one.
    """

    name: str = ""
    ability: str = ""
    warning: str = ""
    others: int = 0
    remedy: str = ""


async def summarize_model(registry: ModelRegistry) -> ModelSummary:
    """Describe the model that edits if none is chosen."""
    try:
        async with asyncio.timeout(_MODEL_SECONDS):
            models = await registry.models()
    except (ApeError, TimeoutError):
        return ModelSummary(warning="The model can’t be reached at the moment. Books wait for it, and lose nothing.")
    if not models:
        return ModelSummary(warning="The model server serves no model.")
    name = models[0].name
    if name in _TINY_MODELS:
        return ModelSummary(name, _TINY_ABILITY, _TINY_WARNING, len(models) - 1, LARGE_MODEL)
    return ModelSummary(name, _ABILITIES.get(name, _OTHER_ABILITY), "", len(models) - 1)


def add_start_routes(app: FastAPI, settings: Settings) -> None:
    """Add GET / and /evaluation."""

    @app.get("/", include_in_schema=False, dependencies=[page_auth(settings)])
    async def start(request: Request) -> Response:
        model = await summarize_model(request.app.state.registry)
        return page_response(request, "home.html", nav="start", model=model, engine=settings.engine)

    @app.get("/evaluation", include_in_schema=False, dependencies=[page_auth(settings)])
    async def evaluation(request: Request) -> Response:
        return page_response(request, "evaluation.html", nav="evaluation")

"""A job uses the model it was started with, or fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ape.engines import Model
from ape.engines.client import OpenAIEngine
from ape.engines.wrapper import EngineWrapper
from ape.errors import UnknownModel
from ape.jobs.job import JobRecipe
from ape.jobs.model_check import ModelChanged, SameModelEngine
from prompts import prompt_format

MODEL = Model("par3", revision="one")
RECIPE = JobRecipe(MODEL.name, MODEL.revision, prompt_format(MODEL.format).fingerprint, "fr", "en")


class OneModel(EngineWrapper):
    """An engine with one model, which counts its users."""

    def __init__(self, model: Model) -> None:
        super().__init__(OpenAIEngine("http://127.0.0.1:9/v1", api_key="k"))
        self.model = model
        self.held = 0

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        if name != self.model.name:
            raise UnknownModel(f"No model is called {name!r} here.")
        self.held += 1
        try:
            yield self.model
        finally:
            self.held -= 1


async def test_the_same_model_is_held_as_long_as_it_is_used() -> None:
    engine = OneModel(MODEL)
    async with SameModelEngine(engine, RECIPE).using("par3") as model:
        assert (model, engine.held) == (MODEL, 1)
    assert engine.held == 0


@pytest.mark.parametrize(
    "now",
    [Model("other"), Model("par3", revision="two"), Model("par3", revision="one", format="sep")],
    ids=["gone", "retrained", "other prompt"],
)
async def test_another_model_is_no_model_of_the_job(now: Model) -> None:
    engine = OneModel(now)
    with pytest.raises(ModelChanged):
        async with SameModelEngine(engine, RECIPE).using("par3"):
            pass
    assert engine.held == 0

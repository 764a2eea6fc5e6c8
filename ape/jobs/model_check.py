"""Check that a job continues with the model it was started with, so that results of two models never mix."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from ape.engines.protocol import Engine, Model
from ape.engines.wrapper import EngineWrapper
from ape.errors import ApeError, UnknownModel
from ape.jobs.job import JobRecipe
from prompts import prompt_format


class ModelChanged(ApeError):
    """The model that a job was started with is no longer served, or has changed."""

    title = "The model is not what it was"


class SameModelEngine(EngineWrapper):
    """An engine that checks the weights and the prompt format of the recipe's model.

    The check runs for every paragraph, since an adapter may be retrained or unloaded while a job runs.
    """

    def __init__(self, engine: Engine, recipe: JobRecipe) -> None:
        super().__init__(engine)
        self._recipe = recipe

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """Use the model; raises ModelChanged where it is not the recipe's."""
        recipe = self._recipe
        async with AsyncExitStack() as stack:
            try:
                model = await stack.enter_async_context(self.engine.using(name))
            except UnknownModel as error:
                raise ModelChanged(
                    f"The model {name} is no longer served. Serve it again, then resume the job."
                ) from error
            prompt = prompt_format(model.format).fingerprint
            if (model.revision, prompt) != (recipe.revision, recipe.prompt):
                raise ModelChanged(
                    f"The job began with {name}, revision {recipe.revision or 'unknown'}, prompt {recipe.prompt}; "
                    f"now it is revision {model.revision or 'unknown'}, prompt {prompt}. Results of the two must not "
                    "mix: serve the old model again and resume the job, or start a new job."
                )
            yield model

"""The very model that a job was begun with: results of another must not be mixed with its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from ape.engines.protocol import Engine, Model
from ape.engines.wrapper import EngineWrapper
from ape.errors import ApeError, UnknownModel
from ape.jobs.job import JobRecipe
from prompts import prompt_format


class ModelChanged(ApeError):
    """The model that a job was begun with is not served any more, or is another one by now."""

    title = "The model is not what it was"


class SameModelEngine(EngineWrapper):
    """The engine, as long as it serves that model with the same weights, and in the same prompt format.

    Looked at for every paragraph: an adapter may be retrained, or unloaded, while a book is at work.
    """

    def __init__(self, engine: Engine, recipe: JobRecipe) -> None:
        super().__init__(engine)
        self._recipe = recipe

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """The model, or ModelChanged."""
        recipe = self._recipe
        async with AsyncExitStack() as stack:
            try:
                model = await stack.enter_async_context(self.engine.using(name))
            except UnknownModel as error:
                raise ModelChanged(
                    f"The model {name} is not served here any more. Serve it again, then resume the job."
                ) from error
            prompt = prompt_format(model.format).fingerprint
            if (model.revision, prompt) != (recipe.revision, recipe.prompt):
                raise ModelChanged(
                    f"The job was begun with {name}, revision {recipe.revision or 'unknown'} by {recipe.prompt}, and "
                    f"it is revision {model.revision or 'unknown'} by {prompt} now. Results of the "
                    "two must not mix: serve the old one again and resume the job, or begin the book anew."
                )
            yield model

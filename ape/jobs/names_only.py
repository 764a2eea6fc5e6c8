"""The engine of a job that only repairs names: it has one model, which is never called."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ape.engines.protocol import EngineHealth, Model, Reply, Sampling
from ape.errors import EngineRefused
from ape.jobs.book_names import NAMES_ONLY
from ape.passage.events import Listener
from prompts import Prompt

_MODEL = Model(NAMES_ONLY)


class NamesOnlyEngine:
    """An engine without a model."""

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """Refuse: a job without a model asks nothing."""
        raise EngineRefused("The names of a book are repaired without a model.")

    async def count(self, text: str) -> int | None:
        """No tokens are counted."""
        return None

    async def models(self) -> tuple[Model, ...]:
        """The one model."""
        return (_MODEL,)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """The one model, whatever the name."""
        yield _MODEL

    def health(self) -> EngineHealth:
        """Always up."""
        return EngineHealth("up")

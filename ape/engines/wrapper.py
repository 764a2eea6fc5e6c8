"""An engine around another one: what stands in front of an engine changes what it has to, and passes on the rest."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from ape.engines.protocol import Engine, EngineHealth, Model, Reply, Sampling
from ape.passage.events import Listener
from prompts import Prompt


class EngineWrapper:
    """An engine that does as the one inside does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """As the engine does."""
        return await self.engine.ask(prompt, sampling, model=model, listen=listen)

    async def count(self, text: str) -> int | None:
        """As the engine does."""
        return await self.engine.count(text)

    async def models(self) -> tuple[Model, ...]:
        """As the engine does."""
        return await self.engine.models()

    def using(self, name: str) -> AbstractAsyncContextManager[Model]:
        """As the engine does."""
        return self.engine.using(name)

    def health(self) -> EngineHealth:
        """As the engine is."""
        return self.engine.health()

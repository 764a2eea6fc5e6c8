"""A base class for engines that wrap another engine."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from ape.engines.protocol import Engine, EngineHealth, Model, Reply, Sampling
from ape.passage.events import Listener
from prompts import Prompt


class EngineWrapper:
    """An engine that delegates every call to another one; subclasses override some."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        """Generate one draft."""
        return await self.engine.ask(prompt, sampling, model=model, listen=listen)

    async def count(self, text: str) -> int | None:
        """The exact number of tokens, if known."""
        return await self.engine.count(text)

    async def models(self) -> tuple[Model, ...]:
        """The served models."""
        return await self.engine.models()

    def using(self, name: str) -> AbstractAsyncContextManager[Model]:
        """The model of that name, loaded during the block."""
        return self.engine.using(name)

    def health(self) -> EngineHealth:
        """The last known health."""
        return self.engine.health()

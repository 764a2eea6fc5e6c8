"""Open the engine that the settings name, and close it properly whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ape.engines.client import OpenAIEngine
from ape.engines.embedded import embedded
from ape.engines.retry import RetryPolicy
from ape.models import DEFAULT_MODEL, Progress, quiet, resolve
from ape.models.catalogue import CATALOGUE
from ape.settings import Settings


@asynccontextmanager
async def open_engine(settings: Settings, *, progress: Progress = quiet) -> AsyncIterator[OpenAIEngine]:
    """The engine, ready to be asked; an embedded one fetches its model first if need be."""
    retry = RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds)
    if settings.engine == "url":
        key = settings.engine_key.get_secret_value() if settings.engine_key else "none"
        async with OpenAIEngine(
            str(settings.url),
            api_key=key,
            default_model=settings.model,
            in_flight=settings.in_flight,
            timeout_seconds=settings.timeout_seconds,
            retry=retry,
        ) as engine:
            yield engine
        return
    wanted = settings.model or DEFAULT_MODEL
    path = await asyncio.to_thread(resolve, wanted, cache=settings.cache, progress=progress)
    name = wanted if wanted in CATALOGUE else Path(path).stem
    async with embedded(
        path, name=name, slots=settings.slots, window=settings.window, threads=settings.threads, retry=retry
    ) as engine:
        yield engine

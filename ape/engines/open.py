"""Open the engine that the settings name, and close it properly whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ape.engines.client import OpenAIEngine
from ape.engines.embedded import embedded, on_base
from ape.engines.loading import Loading, loading
from ape.engines.merged import as_taught, merged_card
from ape.engines.protocol import Model
from ape.engines.retry import RetryPolicy
from ape.models import CATALOGUE, Progress, quiet, resolve
from ape.models.content import revision_of
from ape.settings import Settings


def fetch_model(settings: Settings, *, progress: Progress = quiet) -> Path | None:
    """The file of the embedded engine's model, pulled if need be; None for an engine that has its own.

    Commands call it first, outside of any event loop, so that Ctrl-C stops a long download.
    """
    if settings.engine != "embedded":
        return None
    return resolve(loading(settings).base, cache=settings.cache, progress=progress)


async def embedded_models(settings: Settings) -> tuple[Model, ...]:
    """What the embedded engine would serve, its base first, told by the files: it is not started, and has no window."""
    wanted = loading(settings)
    path = await asyncio.to_thread(resolve, wanted.base, cache=settings.cache)
    base = as_taught(Model(_name(wanted, path), revision=revision_of(path)), merged_card(path.parent))
    return base, *(on_base(base, adapter) for adapter in await asyncio.to_thread(wanted.read, path))


def _name(wanted: Loading, path: Path) -> str:
    return wanted.base if wanted.base in CATALOGUE else path.stem


@asynccontextmanager
async def open_engine(settings: Settings) -> AsyncIterator[OpenAIEngine]:
    """The engine, ready to be asked; an embedded one fetches its model first if that was not done before."""
    retry = RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds)
    if settings.engine == "url":
        key = settings.engine_key.get_secret_value() if settings.engine_key else "none"
        async with OpenAIEngine(
            str(settings.url),
            api_key=key,
            default_model=settings.model,
            in_flight=settings.places,
            timeout_seconds=settings.timeout_seconds or 60.0,
            retry=retry,
        ) as engine:
            yield engine
        return
    async with _embedded(settings, loading(settings), retry) as embedded_engine:
        yield embedded_engine


@asynccontextmanager
async def _embedded(settings: Settings, wanted: Loading, retry: RetryPolicy) -> AsyncIterator[OpenAIEngine]:
    path = await asyncio.to_thread(resolve, wanted.base, cache=settings.cache)
    adapters = await asyncio.to_thread(wanted.read, path)
    async with embedded(
        path,
        name=_name(wanted, path),
        slots=settings.slots,
        window=settings.window,
        threads=settings.threads,
        retry=retry,
        repeatable=settings.repeatable,
        adapters=adapters,
        first=wanted.first,
    ) as engine:
        yield engine

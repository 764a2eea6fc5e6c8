"""Open the engine that the settings name, and close it properly whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ape.engines.client import OpenAIEngine
from ape.engines.embedded import embedded_engine, revision_on_base
from ape.engines.merged_model import apply_card, read_merged_card
from ape.engines.model_selection import ModelSelection, select_models
from ape.engines.protocol import Model
from ape.engines.retry import RetryPolicy
from ape.models import CATALOGUE, DownloadListener, ignore_progress, resolve_model
from ape.models.checksum import file_revision
from ape.settings import Settings


def fetch_model(settings: Settings, *, progress: DownloadListener = ignore_progress) -> Path | None:
    """The file of the embedded engine's model, pulled if need be; None for an engine that has its own.

    Commands call it first, outside of any event loop, so that Ctrl-C stops a long download.
    """
    if settings.engine != "embedded":
        return None
    return resolve_model(select_models(settings).base, cache=settings.cache, progress=progress)


async def embedded_models(settings: Settings) -> tuple[Model, ...]:
    """What the embedded engine would serve, its base first, told by the files: it is not started, and has no window."""
    wanted = select_models(settings)
    path = await asyncio.to_thread(resolve_model, wanted.base, cache=settings.cache)
    base = apply_card(Model(_name(wanted, path), revision=file_revision(path)), read_merged_card(path.parent))
    return base, *(revision_on_base(base, adapter) for adapter in await asyncio.to_thread(wanted.read, path))


def _name(wanted: ModelSelection, path: Path) -> str:
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
    async with _embedded(settings, select_models(settings), retry) as engine:
        yield engine


@asynccontextmanager
async def _embedded(
    settings: Settings, wanted: ModelSelection, retry: RetryPolicy
) -> AsyncIterator[OpenAIEngine]:
    path = await asyncio.to_thread(resolve_model, wanted.base, cache=settings.cache)
    adapters = await asyncio.to_thread(wanted.read, path)
    async with embedded_engine(
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

"""Open the engine that the settings name, and close it properly whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ape.engines.client import OpenAIEngine
from ape.engines.embedded import EmbeddedEngine, embedded_engine, revision_on_base
from ape.engines.merged_model import apply_card, read_merged_card
from ape.engines.model_selection import ModelSelection, select_models
from ape.engines.protocol import Model
from ape.engines.registry import ModelRegistry
from ape.engines.registry_entries import LogLine
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
    return base, *(
        revision_on_base(base, adapter) for adapter in await asyncio.to_thread(wanted.read_adapters, path)
    )


def _name(wanted: ModelSelection, path: Path) -> str:
    return wanted.base if wanted.base in CATALOGUE else path.stem


@asynccontextmanager
async def open_engine(
    settings: Settings, *, log_line: LogLine = lambda _: None
) -> AsyncIterator[ModelRegistry]:
    """The engine of the settings with its adapters and aliases; it is closed at the end of the block.

    The embedded engine downloads its model first if it is not cached. The vllm engine is started here, unless the
    settings have the URL of one that runs; its log goes to `log_line`.
    """
    if settings.engine == "vllm":
        from ape.engines.vllm.factory import open_vllm  # an import that the other engines need not pay for

        async with open_vllm(settings, log_line=log_line) as registry:
            yield registry
    else:
        async with open_client(settings) as engine:
            adapters = engine.adapters if isinstance(engine, EmbeddedEngine) else ()
            yield ModelRegistry(engine, aliases=settings.aliases, built_in=adapters)


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[OpenAIEngine]:
    """The embedded or the url engine alone, without aliases."""
    retry = RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds)
    if settings.engine == "url":
        key = settings.engine_key.get_secret_value() if settings.engine_key else "none"
        async with OpenAIEngine(
            str(settings.url),
            api_key=key,
            default_model=settings.model,
            concurrency=settings.concurrency,
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
    adapters = await asyncio.to_thread(wanted.read_adapters, path)
    async with embedded_engine(
        path,
        name=_name(wanted, path),
        concurrency=settings.concurrency,
        window=settings.window,
        threads=settings.threads,
        retry=retry,
        repeatable=settings.repeatable,
        adapters=adapters,
        default_model=wanted.default,
    ) as engine:
        yield engine

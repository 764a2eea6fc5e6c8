"""Open the engine of the settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ape.engines.client import OpenAIEngine
from ape.engines.embedded import EmbeddedEngine, embedded_engine, revision_on_base
from ape.engines.merged_model import apply_card, apply_profile, read_merged_card
from ape.engines.model_selection import ModelSelection, select_models
from ape.engines.protocol import Model
from ape.engines.registry import ModelRegistry
from ape.engines.registry_entries import LogLine
from ape.engines.retry import RetryPolicy
from ape.models import CATALOGUE, DownloadListener, ignore_progress, resolve_model
from ape.models.checksum import file_revision
from ape.models.profile import read_profile
from ape.settings import Settings


def fetch_model(settings: Settings, *, progress: DownloadListener = ignore_progress) -> Path | None:
    """Download the model of the embedded engine, if not cached, and return its path; None for other engines.

    Commands call it before they start an event loop, so that Ctrl-C stops a long download.
    """
    if settings.engine != "embedded":
        return None
    return _resolve(select_models(settings), settings, progress=progress)


async def embedded_models(settings: Settings) -> tuple[Model, ...]:
    """The models that the embedded engine would serve, the base first, without starting it; their window is None."""
    selection = select_models(settings)
    path = await asyncio.to_thread(_resolve, selection, settings)
    base = apply_card(Model(_name(selection, path), revision=file_revision(path)), read_merged_card(path.parent))
    return apply_profile(base, read_profile(selection.base)), *(
        revision_on_base(base, adapter) for adapter in await asyncio.to_thread(selection.read_adapters, path)
    )


def _resolve(selection: ModelSelection, settings: Settings, *, progress: DownloadListener = ignore_progress) -> Path:
    return resolve_model(selection.base, cache=settings.cache, progress=progress, source=settings.model_source)


def _name(selection: ModelSelection, path: Path) -> str:
    return selection.base if selection.base in CATALOGUE else path.stem


@asynccontextmanager
async def open_engine(settings: Settings, *, log_line: LogLine = lambda _: None) -> AsyncIterator[ModelRegistry]:
    """Open the engine of the settings with its adapters and aliases; it is closed at the end of the block.

    The embedded engine first downloads a model that is not cached. vLLM is started, unless the settings have the URL of
    a running one; its log goes to `log_line`.
    """
    if settings.engine == "vllm":
        from ape.engines.vllm.factory import open_vllm  # slow to import, and only needed here

        async with open_vllm(settings, log_line=log_line) as registry:
            yield registry
    else:
        async with open_client(settings) as engine:
            adapters = engine.adapters if isinstance(engine, EmbeddedEngine) else ()
            yield ModelRegistry(engine, aliases=settings.aliases, built_in=adapters)


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[OpenAIEngine]:
    """Open the embedded or the url engine without aliases."""
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
            prediction=settings.prediction,
        ) as engine:
            yield engine
        return
    async with _embedded(settings, select_models(settings), retry) as engine:
        yield engine


@asynccontextmanager
async def _embedded(settings: Settings, selection: ModelSelection, retry: RetryPolicy) -> AsyncIterator[OpenAIEngine]:
    path = await asyncio.to_thread(_resolve, selection, settings)
    adapters = await asyncio.to_thread(selection.read_adapters, path)
    async with embedded_engine(
        path,
        name=_name(selection, path),
        concurrency=settings.concurrency,
        window=settings.window,
        threads=settings.threads,
        retry=retry,
        repeatable=settings.repeatable,
        adapters=adapters,
        default_model=selection.default,
        profile=read_profile(selection.base),
    ) as engine:
        yield engine

"""The models of a batch, looked up before the start: an adapter that can't be served is refused here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from ape.engines.factory import embedded_models, open_engine
from ape.engines.protocol import Engine, Model, pick_model
from ape.errors import InputError
from ape.settings import Settings

ModelLookup = Callable[[str], Awaitable[Model]]


def engine_settings_of(settings: Settings, urls: Sequence[str]) -> list[Settings]:
    """The settings of each engine of an actor: one for each URL, or one engine of its own."""
    return [settings.model_copy(update={"url": url}) for url in urls] if urls else [settings]


@asynccontextmanager
async def open_models(settings: Settings, urls: Sequence[str]) -> AsyncIterator[ModelLookup]:
    """Look up models by name. Of an engine that would be started here, only the files are read.

    Servers by URL are asked, each of them: all must serve the same.
    """
    if settings.engine == "url" or settings.url:
        async with AsyncExitStack() as stack:
            engines = [await stack.enter_async_context(open_engine(one)) for one in engine_settings_of(settings, urls)]
            yield lambda name: _same_model(name, engines, urls)
        return
    models = await _own_models(settings)
    yield lambda name: _pick(models, settings.aliases.get(name, name))


async def _own_models(settings: Settings) -> tuple[Model, ...]:
    if settings.engine == "embedded":
        return await embedded_models(settings)
    from ape.engines.vllm.factory import vllm_models  # slow to import, and only needed here

    return vllm_models(settings)


async def _pick(models: tuple[Model, ...], name: str) -> Model:
    return pick_model(models, name)


async def _same_model(name: str, engines: Sequence[Engine], urls: Sequence[str]) -> Model:
    found = []
    for engine in engines:
        async with engine.using(name) as model:
            found.append(model)
    for model, url in zip(found[1:], urls[1:], strict=True):
        first = found[0]
        if (model.name, model.revision, model.format) != (first.name, first.revision, first.format):
            raise InputError(
                f"{name!r} is not the same everywhere: {_described(first)} at {urls[0]}, "
                f"and {_described(model)} at {url}. "
                "All servers must serve the same models.",
                field="url",
            )
    return found[0]


def _described(model: Model) -> str:
    return f"{model.name} ({model.format}, revision {model.revision or 'unknown'})"

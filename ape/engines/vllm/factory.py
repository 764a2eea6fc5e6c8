"""Start vLLM or connect to a running one, with the adapters of the settings."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from ape.adapters import Adapter, AdapterBase, AdapterCard, list_adapters, read_adapter, read_base, snapshot_adapter
from ape.adapters.copy_folder import open_copy_folder
from ape.adapters.directory import read_rank
from ape.engines.merged_model import apply_card, read_merged_card
from ape.engines.protocol import Model
from ape.engines.registry import ModelRegistry, adapter_model
from ape.engines.registry_entries import AdapterSource, LogLine
from ape.engines.retry import RetryPolicy
from ape.engines.vllm.engine import ExternalVllm, VllmEngine, VllmListedModel, VllmServer
from ape.engines.vllm.launch import LORA_RANKS, VllmLaunch
from ape.engines.vllm.supervisor import VllmSupervisor
from ape.errors import AdapterRefused, ApeError
from ape.settings import Settings

# Under load a prompt may wait long for its first token; health checks detect a dead vLLM sooner.
DEFAULT_TIMEOUT_SECONDS = 300.0


@asynccontextmanager
async def open_vllm(settings: Settings, *, log_line: LogLine) -> AsyncIterator[ModelRegistry]:
    """Start vLLM, or connect to the one at `settings.url`, with the adapters and aliases of the settings."""
    open_server = _open_external_server if settings.url else _open_own_server
    async with open_server(settings, log_line) as registry:
        for alias, model in settings.aliases.items():
            await registry.set_alias(alias, model)
        yield registry


def vllm_models(settings: Settings) -> tuple[Model, ...]:
    """The models that a vLLM of our own would serve, the base first, without starting it; their window is None."""
    base = _base_of_model(str(settings.model))
    revision = base.fingerprint or ""
    own = apply_card(Model(base.name, revision=revision), read_merged_card(Path(str(settings.model))))
    adapters = (_read(name, place, base, None) for name, place in settings.adapters.items())
    return own, *(adapter_model(adapter, revision) for adapter in adapters)


@asynccontextmanager
async def _open_own_server(settings: Settings, log_line: LogLine) -> AsyncIterator[ModelRegistry]:
    """Start a vLLM of our own with the adapters of the settings."""
    model = str(settings.model)
    named = _base_of_model(model)
    with open_copy_folder(settings.cache / "adapters") as copies:
        adapters = [_read(name, place, named, copies) for name, place in settings.adapters.items()]
        vllm = VllmSupervisor(
            VllmLaunch(
                python=settings.vllm_python or Path(sys.executable),
                model=model,
                name=named.name,
                flags=settings.vllm_flags,
                ranks=_ranks(adapters, settings),
                use_speculation=settings.vllm_speculation,
                start_seconds=settings.vllm_start_seconds,
            ),
            log_line=log_line,
            on_up=lambda: registry.restore(),
        )
        for adapter in adapters:
            if adapter.rank > vllm.max_lora_rank:
                raise AdapterRefused(
                    f"The adapter {adapter.name} has rank {adapter.rank}, and vLLM is started for at most "
                    f"{vllm.max_lora_rank}: raise --max-lora-rank in vllm_flags."
                )
        async with _engine(vllm, settings, read_merged_card(Path(model))) as engine:
            registry = ModelRegistry(engine, source=_source(engine, named, settings, copies), log_line=log_line)
            for adapter in adapters:
                registry.register(adapter)
            async with vllm:
                yield registry


@asynccontextmanager
async def _open_external_server(settings: Settings, log_line: LogLine) -> AsyncIterator[ModelRegistry]:
    """Connect to a running vLLM. It reads adapters from their own folders, so they are not copied."""
    key = settings.engine_key.get_secret_value() if settings.engine_key else "none"
    async with _engine(ExternalVllm(str(settings.url), key), settings) as engine:
        listed = await engine.listed()
        own = next((one for one in listed if one.parent is None), None)
        base = _base_of_listed(own) if own else AdapterBase("")
        engine.card = read_merged_card(Path(own.root)) if own else None
        registry = ModelRegistry(engine, source=_source(engine, base, settings, None), log_line=log_line)
        for one in listed:
            if one.parent is not None:
                _register_preloaded(one, registry, base, log_line)
        for name, place in settings.adapters.items():
            registry.register(_read(name, place, base, None))
        await registry.restore()
        yield registry


def _base_of_model(model: str) -> AdapterBase:
    """The base model under its served name: the last part of a directory, or a hub id."""
    base = read_base(model)
    return replace(base, name=Path(model).resolve().name) if Path(model).is_dir() else base


def _engine(server: VllmServer, settings: Settings, card: AdapterCard | None = None) -> VllmEngine:
    return VllmEngine(
        server,
        concurrency=settings.concurrency,
        timeout_seconds=settings.timeout_seconds or DEFAULT_TIMEOUT_SECONDS,
        retry=RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds),
        card=card,
    )


def _source(engine: VllmEngine, base: AdapterBase, settings: Settings, copies: Path | None) -> AdapterSource:
    return AdapterSource(engine, base, settings.adapter_dirs, copies, settings.max_adapters)


def _read(name: str, place: Path, base: AdapterBase, copies: Path | None) -> Adapter:
    """Read an adapter of the settings, from any folder."""
    try:
        if not place.is_dir():
            raise AdapterRefused(f"There is no directory {place}.")
        return read_adapter(name, snapshot_adapter(place, copies) if copies else place.resolve(), base=base)
    except AdapterRefused as error:
        raise AdapterRefused(f"The adapter {name} ({place}) can't be served. {error}") from error


def _ranks(adapters: Sequence[Adapter], settings: Settings) -> tuple[int, ...]:
    """Ranks of the adapters of the settings, and of those that may be loaded later.

    Adapters that can't be read, or of a rank that vLLM does not serve, are refused when they are loaded.
    """
    begun_with = {place.resolve() for place in settings.adapters.values()}
    ranks = [adapter.rank for adapter in adapters]
    for place in list_adapters(settings.adapter_dirs):
        with suppress(AdapterRefused):
            if place.resolve() not in begun_with and (rank := read_rank(place)) <= LORA_RANKS[-1]:
                ranks.append(rank)
    return tuple(ranks)


def _base_of_listed(listed: VllmListedModel) -> AdapterBase:
    """The base model of a running server; its files are read if they are on this machine."""
    with suppress(ApeError):
        return replace(read_base(listed.root), name=listed.name)
    return AdapterBase(listed.name)


def _register_preloaded(listed: VllmListedModel, registry: ModelRegistry, base: AdapterBase, log_line: LogLine) -> None:
    """Register an adapter that the server was started with, if it has a card."""
    try:
        registry.register(read_adapter(listed.name, Path(listed.root), base=base), preloaded=True)
    except ApeError as error:
        log_line(f"The adapter {listed.name}, which vLLM has loaded, is left out. {error}")

"""Open whatever engine the settings name, with its adapters and aliases; for vLLM that means to start it."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from ape.adapters import Adapter, Base, Card, adapters_in, read_adapter, read_base, snapshot
from ape.adapters.directory import rank_in
from ape.adapters.shelf import shelf
from ape.engines.embedded import EmbeddedEngine
from ape.engines.merged import merged_card
from ape.engines.open import open_engine
from ape.engines.retry import RetryPolicy
from ape.errors import AdapterRefused, ApeError
from ape.settings import Settings
from serve.house import Source
from serve.launch import RANKS, Launch
from serve.roster import Roster
from serve.vllm import Vllm
from serve.vllm_engine import Listed, Server, Standing, VllmEngine

# Under load a prompt may wait for long before its first token; whether vLLM is alive is looked at by other means.
SILENCE_SECONDS = 300.0
Tell = Callable[[str], None]


@asynccontextmanager
async def open_roster(settings: Settings, *, tell: Tell) -> AsyncIterator[Roster]:
    """The engine, ready to be asked, and gone at the end of the block."""
    if settings.engine != "vllm":
        async with open_engine(settings) as engine:
            adapters = engine.adapters if isinstance(engine, EmbeddedEngine) else ()
            yield Roster(engine, aliases=settings.aliases, built_in=adapters)
        return
    opened = _standing(settings, tell) if settings.url else _started(settings, tell)
    async with opened as roster:
        for alias, model in settings.aliases.items():
            await roster.point(alias, model)
        yield roster


@asynccontextmanager
async def _started(settings: Settings, tell: Tell) -> AsyncIterator[Roster]:
    """A vLLM of our own, with the adapters that are to be there from the beginning."""
    model = str(settings.model)
    named = _named(model)
    with shelf(settings.cache / "adapters") as copies:
        adapters = [_read(name, place, named, copies) for name, place in settings.adapters.items()]
        vllm = Vllm(
            Launch(
                python=settings.vllm_python or Path(sys.executable),
                model=model,
                name=named.name,
                flags=settings.vllm_flags,
                ranks=_ranks(adapters, settings),
                speculate=settings.vllm_speculation,
                start_seconds=settings.vllm_start_seconds,
            ),
            tell=tell,
            on_up=lambda: roster.restore(),
        )
        for adapter in adapters:
            if adapter.rank > vllm.max_lora_rank:
                raise AdapterRefused(
                    f"The adapter {adapter.name} has rank {adapter.rank}, and --max-lora-rank is {vllm.max_lora_rank}."
                )
        async with _engine(vllm, settings, merged_card(Path(model))) as engine:
            roster = Roster(engine, source=_source(engine, named, settings, copies), tell=tell)
            for adapter in adapters:
                roster.add(adapter)
            async with vllm:
                yield roster


@asynccontextmanager
async def _standing(settings: Settings, tell: Tell) -> AsyncIterator[Roster]:
    """A vLLM that runs already. It reads adapters from where they are, so they are not copied."""
    key = settings.engine_key.get_secret_value() if settings.engine_key else "none"
    async with _engine(Standing(str(settings.url), key), settings) as engine:
        listed = await engine.listed()
        own = next((one for one in listed if one.parent is None), None)
        base = _seen(own) if own else Base("")
        engine.card = merged_card(Path(own.root)) if own else None
        roster = Roster(engine, source=_source(engine, base, settings, None), tell=tell)
        for one in listed:
            if one.parent is not None:
                _adopt(one, roster, base, tell)
        for name, place in settings.adapters.items():
            roster.add(_read(name, place, base, None))
        await roster.restore()
        yield roster


def _named(model: str) -> Base:
    """The base by the name that it is asked for: the last part of a directory, or a hub id."""
    base = read_base(model)
    return replace(base, name=Path(model).resolve().name) if Path(model).is_dir() else base


def _engine(server: Server, settings: Settings, card: Card | None = None) -> VllmEngine:
    return VllmEngine(
        server,
        in_flight=settings.places,
        timeout_seconds=settings.timeout_seconds or SILENCE_SECONDS,
        retry=RetryPolicy(attempts=settings.retry_attempts, total_seconds=settings.retry_seconds),
        card=card,
    )


def _source(engine: VllmEngine, base: Base, settings: Settings, copies: Path | None) -> Source:
    return Source(engine, base, settings.adapter_dirs, copies, settings.max_adapters)


def _read(name: str, place: Path, base: Base, copies: Path | None) -> Adapter:
    """An adapter that whoever starts the service asked for, from wherever it is."""
    try:
        if not place.is_dir():
            raise AdapterRefused(f"There is no directory {place}.")
        return read_adapter(name, snapshot(place, copies) if copies else place.resolve(), base=base)
    except AdapterRefused as error:
        raise AdapterRefused(f"The adapter {name} ({place}) can't be served. {error}") from error


def _ranks(adapters: Sequence[Adapter], settings: Settings) -> tuple[int, ...]:
    """Of those that are there from the beginning, and of what may be loaded later as far as it can be.

    One that can't be read, or that no server takes, will be refused when it is asked for.
    """
    begun_with = {place.resolve() for place in settings.adapters.values()}
    ranks = [adapter.rank for adapter in adapters]
    for place in adapters_in(settings.adapter_dirs):
        with suppress(AdapterRefused):
            if place.resolve() not in begun_with and (rank := rank_in(place)) <= RANKS[-1]:
                ranks.append(rank)
    return tuple(ranks)


def _seen(listed: Listed) -> Base:
    """The base of a server that runs already, with a look at its files where they are on this machine too."""
    with suppress(ApeError):
        return replace(read_base(listed.root), name=listed.name)
    return Base(listed.name)


def _adopt(listed: Listed, roster: Roster, base: Base, tell: Tell) -> None:
    """Take over an adapter that the server was started with, if it says how it is to be asked."""
    try:
        roster.add(read_adapter(listed.name, Path(listed.root), base=base), adopted=True)
    except ApeError as error:
        tell(f"The adapter {listed.name}, which vLLM has loaded, is left out. {error}")

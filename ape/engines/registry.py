"""Models, adapters and aliases of an engine.

The registry wraps an engine and is one itself. A passage keeps the model that it began with, so an alias can be moved
and an adapter unloaded under load without failing a request.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from ape.adapters import Adapter, locate_adapter, read_adapter, snapshot_adapter
from ape.adapters.directory import check_adapter_name
from ape.adapters.gguf import GgufAdapter
from ape.engines import Engine, Model
from ape.engines.registry_entries import (
    AdapterEntry,
    AdapterLoader,
    AdapterOutcome,
    AdapterSource,
    LoadedAdapter,
    LogLine,
)
from ape.engines.wrapper import EngineWrapper
from ape.errors import ApeError, Conflict, EngineUnavailable, NoRoom, UnknownModel
from ape.passage.options import DEFAULT_MODEL_NAME


class ModelRegistry(EngineWrapper):
    """An engine with adapters and aliases; `built_in` adapters belong to the engine and can't be unloaded."""

    def __init__(
        self,
        engine: Engine,
        *,
        aliases: Mapping[str, str] | None = None,
        source: AdapterSource | None = None,
        built_in: Sequence[GgufAdapter] = (),
        unload_seconds: float = 30.0,
        log_line: LogLine = lambda _: None,
    ) -> None:
        super().__init__(engine)
        self.aliases = dict(aliases or {})
        self.on_change: Callable[[AdapterOutcome], None] = lambda _: None
        self._source = source
        self._unload_seconds = unload_seconds
        self._log_line = log_line
        self._built_in = {adapter.name: AdapterEntry(adapter=adapter) for adapter in built_in}
        self._entries: dict[str, LoadedAdapter] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._loading: set[str] = set()
        self._restored = False

    # The engine protocol.

    async def models(self) -> tuple[Model, ...]:
        """The engine's own models and the adapters, the default first."""
        own = await self.engine.models()
        served = (*own, *(entry.model for entry in self._entries.values() if not entry.is_unloading))
        first = self.aliases.get(DEFAULT_MODEL_NAME)
        return tuple(sorted(served, key=lambda model: model.name != first))

    async def metrics(self) -> str:
        """The metrics of the engine; UnknownModel if it has none."""
        if self._source is None:
            raise UnknownModel("The engine has no metrics of its own.")
        return await self._source.loader.metrics()

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        """The model of that name or alias, kept loaded during the block."""
        meant = self.aliases.get(name, name)
        entry = self._entries.get(meant)
        if entry is None or entry.is_unloading:
            async with self._engine_model(meant) as model:
                yield model
            return
        if entry.failure:
            raise EngineUnavailable(f"The adapter {meant} is out of service: {entry.failure}", retry_after=60)
        with entry.hold():
            yield entry.model

    @asynccontextmanager
    async def _engine_model(self, name: str) -> AsyncIterator[Model]:
        async with AsyncExitStack() as stack:
            try:
                model = await stack.enter_async_context(self.engine.using(name))
            except UnknownModel:
                known = dict.fromkeys(
                    [DEFAULT_MODEL_NAME, *(model.name for model in await self.models()), *self.aliases]
                )
                raise UnknownModel(
                    f"No model is called {name!r} here. There is: {', '.join(known)}.", field="model"
                ) from None
            if entry := self._built_in.get(model.name):
                stack.enter_context(entry.hold())
            # That of a server's model is empty, or only that of its profile.
            own = model.revision
            if not own or own.startswith("+"):
                own = f"{self._base_revision(model.name)}{own}"
            yield replace(model, revision=own)

    def _base_revision(self, name: str) -> str:
        base = self._source.base if self._source else None
        return (base.fingerprint or "") if base and base.name == name else ""

    def _model(self, adapter: Adapter, *, window: int | None = None) -> Model:
        """The adapter as a model."""
        base = self._base_revision(self._require_source().base.name)
        return adapter_model(adapter, base, window=window)

    # Adapters.

    @property
    def available_adapters(self) -> int:
        """How many adapters are available."""
        loaded = self._entries.values()
        return len(self._built_in) + sum(not entry.failure and not entry.is_unloading for entry in loaded)

    @property
    def entries(self) -> tuple[AdapterEntry, ...]:
        """All adapters in the order of loading."""
        return (*self._built_in.values(), *self._entries.values())

    def register(self, adapter: Adapter, *, preloaded: bool = False) -> None:
        """Register an adapter; `restore` loads it when the engine is up, unless it is preloaded."""
        self._refuse_taken(adapter.name)
        self._entries[adapter.name] = LoadedAdapter(adapter=adapter, model=self._model(adapter), is_preloaded=preloaded)

    async def restore(self) -> None:
        """Load all adapters into an engine that has just started; at the first start a failure is an error.

        It is not up yet, so nothing else is loaded meanwhile, but an adapter may be unloaded.
        """
        window = await self._window()
        for name, entry in list(self._entries.items()):
            entry.model = replace(entry.model, window=window or entry.model.window)
            if not entry.is_preloaded and self._entries.get(name) is entry:
                await self._reload(name, entry)
        self._restored = True

    async def _reload(self, name: str, entry: LoadedAdapter) -> None:
        try:
            await self._loader().load(name, entry.adapter.directory)
            if self._entries.get(name) is not entry:
                await self._loader().unload(name)
        except ApeError as error:
            self.on_change("failed")
            if not self._restored:
                raise
            entry.failure = str(error)
            self._log_line(f"The adapter {name} could not be loaded again: {error}")
        else:
            entry.failure = ""
            self.on_change("loaded")

    async def _window(self) -> int | None:
        try:
            return await self._loader().window()
        except ApeError:
            if not self._restored:
                raise
            return None  # unchanged

    async def load(self, name: str, directory: str | None = None) -> tuple[LoadedAdapter, bool]:
        """Load an adapter from one of the allowed folders; also returns whether it is new.

        Loading is completed even if the caller is cancelled.
        """
        return await asyncio.shield(self._load(check_adapter_name(name), directory or name))

    async def _load(self, name: str, directory: str) -> tuple[LoadedAdapter, bool]:
        async with self._locks[name]:
            with self._count_outcome("refused"):
                self._refuse_taken(name)
                self._refuse_more_than_limit(name)
            self._loading.add(name)
            try:
                with self._count_outcome("refused"):
                    adapter = await asyncio.to_thread(self._read, name, directory)
                    self._refuse_other_content(adapter)
                with self._count_outcome("failed"):
                    return await self._load_into_engine(adapter)
            finally:
                self._loading.discard(name)

    @contextmanager
    def _count_outcome(self, outcome: AdapterOutcome) -> Iterator[None]:
        try:
            yield
        except ApeError:
            self.on_change(outcome)
            raise

    async def _load_into_engine(self, adapter: Adapter) -> tuple[LoadedAdapter, bool]:
        """Load it into the engine unless it is loaded; also returns whether it is new."""
        loader, name = self._loader(), adapter.name
        loader.require_ready()
        entry = self._entries.get(name)
        if entry is not None:
            if entry.failure or not await loader.has_adapter(name):
                await loader.load(name, entry.adapter.directory)
                entry.failure = ""
            self._discard(adapter.directory)  # a second copy, made because its card has changed
            return entry, False
        try:
            window = await loader.window()
            await loader.load(name, adapter.directory)
        except ApeError:
            self._discard(adapter.directory)
            raise
        entry = self._entries[name] = LoadedAdapter(adapter=adapter, model=self._model(adapter, window=window))
        self.on_change("loaded")
        self._log_line(f"Loaded the adapter {name} ({adapter.revision}).")
        return entry, True

    def _read(self, name: str, directory: str) -> Adapter:
        source = self._require_source()
        place = locate_adapter(directory, source.allowed_folders)
        if source.copy_folder is None:
            return read_adapter(name, place, base=source.base, max_rank=source.loader.max_rank)
        place = snapshot_adapter(place, source.copy_folder)
        try:
            return read_adapter(name, place, base=source.base, max_rank=source.loader.max_rank)
        except ApeError:
            self._discard(place)
            raise

    def _discard(self, directory: Path) -> None:
        """Remove a copy that is not in use; two names may share one."""
        in_use = {entry.adapter.directory for entry in self._entries.values()}
        copies = self._require_source().copy_folder
        if copies is not None and directory not in in_use and len(self._loading) <= 1:
            shutil.rmtree(directory, ignore_errors=True)

    def _refuse_other_content(self, adapter: Adapter) -> None:
        entry = self._entries.get(adapter.name)
        if entry and entry.adapter.revision != adapter.revision:
            self._discard(adapter.directory)
            raise Conflict(
                f"{adapter.name} is loaded with other content (revision {entry.adapter.revision}, and there is "
                f"{adapter.revision} now). Load the new one under another name and move the alias, or unload it first.",
                field="name",
            )

    async def unload(self, name: str) -> None:
        """Unload an adapter after its passages in progress; new passages no longer get it."""
        await asyncio.shield(self._unload(name))

    async def _unload(self, name: str) -> None:
        async with self._locks[name]:
            entry = self._entries.get(name)
            if name in self._built_in:
                raise Conflict(f"{name} belongs to the engine and can't be unloaded.", field="name")
            if entry is None:
                loaded = ", ".join(self._entries) or "none"
                raise UnknownModel(f"No adapter is called {name!r} here. There is: {loaded}.", field="name")
            if pointing := [alias for alias, meant in self.aliases.items() if meant == name]:
                raise Conflict(f"The alias {pointing[0]} stands for {name}. Move it first.", field="name")
            entry.is_unloading = True
            try:
                await self._wait_until_idle(entry)
                self._loader().require_ready()
                await self._loader().unload(name)
            except EngineUnavailable:
                pass  # it is down, and will start without this adapter
            except BaseException:
                entry.is_unloading = False
                raise
            del self._entries[name]
            self._discard(entry.adapter.directory)
            self.on_change("unloaded")
            self._log_line(f"Unloaded the adapter {name}.")

    async def _wait_until_idle(self, entry: LoadedAdapter) -> None:
        try:
            async with asyncio.timeout(self._unload_seconds):
                while entry.in_use:
                    entry.idle.clear()
                    await entry.idle.wait()
        except TimeoutError as error:
            raise Conflict(
                f"{entry.in_use} passages with {entry.adapter.name} are still in progress after "
                f"{self._unload_seconds:g} seconds. It stays loaded; try again later.",
                field="name",
            ) from error

    def _refuse_taken(self, name: str) -> None:
        if self._require_source().base.name == name or name == DEFAULT_MODEL_NAME or name in self.aliases:
            raise Conflict(f"{name} is the name of the base model or of an alias. Choose another.", field="name")

    def _refuse_more_than_limit(self, name: str) -> None:
        others = (self._entries.keys() | self._loading) - {name}
        if len(others) >= (limit := self._require_source().max_adapters):
            raise NoRoom(f"{limit} adapters are loaded, which is the limit (max_adapters). Unload one first.")

    def _require_source(self) -> AdapterSource:
        if self._source is None:
            raise Conflict("This engine loads no adapters at run time. Set `engine` to vllm.")
        return self._source

    def _loader(self) -> AdapterLoader:
        return self._require_source().loader

    # Aliases.

    async def set_alias(self, alias: str, model: str) -> None:
        """Point an alias to a model; passages in progress keep the model they began with."""
        check_adapter_name(alias)
        if model in self.aliases or model == DEFAULT_MODEL_NAME:
            raise Conflict(f"{model} is an alias itself. Name its model.", field="model")
        if alias in {*self._loading, *(served.name for served in await self.models())}:
            raise Conflict(f"{alias} is a model, and can't be an alias too.", field="alias")
        async with self.using(model):
            self.aliases[alias] = model

    def remove_alias(self, alias: str) -> None:
        """Remove an alias."""
        if alias == DEFAULT_MODEL_NAME or alias not in self.aliases:
            raise UnknownModel(f"There is no alias {alias!r} to remove.", field="alias")
        del self.aliases[alias]


def adapter_model(adapter: Adapter, base_revision: str, *, window: int | None = None) -> Model:
    """The adapter as a model: its revision includes that of its base."""
    card = adapter.card
    revision = f"{base_revision}+{adapter.revision}"
    return Model(adapter.name, window, adapter.format, revision, edit_filter=card.gate, languages=card.languages)

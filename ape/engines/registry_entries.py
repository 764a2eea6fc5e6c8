"""The adapters in the house: where they come from, who loads them, and how many passages are at work with each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from ape.adapters import Adapter, AdapterBase
from ape.adapters.gguf import GgufAdapter
from ape.engines import Model

AdapterOutcome = Literal["loaded", "refused", "failed", "unloaded"]
ADAPTER_OUTCOMES: tuple[AdapterOutcome, ...] = ("loaded", "refused", "failed", "unloaded")
LogLine = Callable[[str], None]


class AdapterLoader(Protocol):
    """An engine that takes adapters while it runs."""

    @property
    def max_rank(self) -> int | None:
        """The largest rank it has room for, where that is known."""
        ...

    def require_ready(self) -> None:
        """Raise EngineUnavailable where it can't be told of anything at the moment."""
        ...

    async def load(self, name: str, directory: Path) -> None:
        """Make an adapter known under that name."""
        ...

    async def has_adapter(self, name: str) -> bool:
        """Whether it has an adapter of that name."""
        ...

    async def unload(self, name: str) -> None:
        """Forget it."""
        ...

    async def window(self) -> int | None:
        """The context length of the base, and so of its adapters."""
        ...

    async def metrics(self) -> str:
        """Its own numbers, in Prometheus' text."""
        ...


@dataclass(slots=True, kw_only=True)
class AdapterEntry:
    """An adapter in the house, and how many passages are at work with it."""

    adapter: Adapter | GgufAdapter
    in_use: int = 0
    failure: str = ""
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """One more passage, for the length of the block."""
        self.in_use += 1
        try:
            yield
        finally:
            self.in_use -= 1
            if not self.in_use:
                self.idle.set()


@dataclass(slots=True, kw_only=True)
class LoadedAdapter(AdapterEntry):
    """An adapter that may leave again. `is_preloaded`: the engine had it before us."""

    adapter: Adapter
    model: Model
    is_unloading: bool = False
    is_preloaded: bool = False


@dataclass(frozen=True, slots=True)
class AdapterSource:
    """Where adapters come from: the base they have to fit, the folders they may lie in, and a place for our copies."""

    loader: AdapterLoader
    base: AdapterBase
    allowed_folders: Sequence[Path] = ()
    copy_folder: Path | None = None
    max_adapters: int = 32

"""Entries of the model registry: loaded adapters, their source and their loader."""

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
    """An engine that loads adapters at run time."""

    @property
    def max_rank(self) -> int | None:
        """The largest LoRA rank that it can serve, if known."""
        ...

    def require_ready(self) -> None:
        """Raise EngineUnavailable if it can't take calls at the moment."""
        ...

    async def load(self, name: str, directory: Path) -> None:
        """Load an adapter under that name."""
        ...

    async def has_adapter(self, name: str) -> bool:
        """Whether an adapter of that name is loaded."""
        ...

    async def unload(self, name: str) -> None:
        """Unload the adapter."""
        ...

    async def window(self) -> int | None:
        """The context length of the base and its adapters."""
        ...

    async def metrics(self) -> str:
        """Its metrics, in the Prometheus text format."""
        ...


@dataclass(slots=True, kw_only=True)
class AdapterEntry:
    """An adapter and the number of passages that use it."""

    adapter: Adapter | GgufAdapter
    in_use: int = 0
    failure: str = ""
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Count one more passage during the block."""
        self.in_use += 1
        try:
            yield
        finally:
            self.in_use -= 1
            if not self.in_use:
                self.idle.set()


@dataclass(slots=True, kw_only=True)
class LoadedAdapter(AdapterEntry):
    """An adapter that can be unloaded; `is_preloaded` if the server was started with it."""

    adapter: Adapter
    model: Model
    is_unloading: bool = False
    is_preloaded: bool = False


@dataclass(frozen=True, slots=True)
class AdapterSource:
    """Where adapters are loaded from: their base, the allowed folders, and a folder for our copies."""

    loader: AdapterLoader
    base: AdapterBase
    allowed_folders: Sequence[Path] = ()
    copy_folder: Path | None = None
    max_adapters: int = 32

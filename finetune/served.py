"""An adapter served for a while by the engine of the settings, so that it is measured as it will be used."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ape.adapters import Card, read_card
from ape.adapters.directory import WEIGHTS
from ape.adapters.gguf import GGUF
from ape.engines.open import open_engine
from ape.engines.protocol import Engine
from ape.errors import InputError
from ape.models import CATALOGUE, DEFAULT_MODEL
from ape.settings import Settings
from prompts import fingerprint

NAME = "tuned"


@dataclass(frozen=True, slots=True)
class Served:
    """A running engine, the adapter's name there, and a key for its weights and format."""

    engine: Engine
    name: str
    key: str

    async def untuned(self) -> Served:
        """Its base, asked by instructions."""
        base = next(model for model in await self.engine.models() if model.name != self.name)
        return Served(self.engine, base.name, f"{fingerprint(base.format)}+{base.name}+{base.revision}")


@asynccontextmanager
async def serving(adapter: Path, settings: Settings) -> AsyncIterator[Served]:
    """The adapter on the engine of the settings."""
    card = read_card(adapter)
    weights = adapter / (GGUF if settings.engine == "embedded" else WEIGHTS)
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except FileNotFoundError as error:
        raise InputError(
            f"{adapter} has no {weights.name}. `ape finetune export {adapter}` writes it."
        ) from error
    # With its base alone beside it: by default that would be the tuned model that comes with this package.
    changes = {"adapters": {NAME: adapter}, "model": settings.model or _base(card)}
    async with open_engine(settings.model_copy(update=changes)) as engine:
        served = Served(engine, NAME, "")
        yield replace(served, key=f"{card.prompt}+{digest}+{(await served.untuned()).key}")


def _base(card: Card) -> str:
    """The model that it was trained on, where that is one the engine can find."""
    known = card.base.model in CATALOGUE or Path(card.base.model).suffix == ".gguf"
    return card.base.model if known else DEFAULT_MODEL

"""An adapter and its base, or a prompted model alone, as the embedded engine serves them, for drafting and scoring."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ape.adapters import AdapterCard, read_card
from ape.adapters.gguf import GGUF_FILE
from ape.engines.factory import embedded_models
from ape.engines.protocol import Model, pick_model
from ape.errors import AdapterRefused, InputError
from ape.files.hashing import hash_file
from ape.models import CATALOGUE
from ape.settings import Settings
from prompts import prompt_format

TUNED_ALIAS = "tuned"


@dataclass(frozen=True, slots=True)
class ScoredModel:
    """A model of an engine; `cache_key` identifies its weights and prompt format."""

    model: Model
    cache_key: str


@dataclass(frozen=True, slots=True)
class ServedAdapter:
    """The adapter, its base prompted by instructions, and the settings of an engine with both."""

    tuned: ScoredModel
    untuned: ScoredModel
    settings: Settings


async def find_served_adapter(adapter: Path, settings: Settings) -> ServedAdapter:
    """Find the adapter on the model of the settings, by default the base of its card; starts no engine.

    Other engines are refused: this does not start vLLM, and a server given by URL is prompted by instructions, which an
    adapter was not trained on.
    """
    _require_embedded(settings)
    card = read_card(adapter)
    digest = _digest(adapter)
    # The base has to be named: the default model is the tuned one that is shipped with this package.
    changes = {"adapters": {TUNED_ALIAS: adapter}, "model": settings.model or _base(adapter, card)}
    settings = settings.model_copy(update=changes)
    try:
        models = await embedded_models(settings)
    except AdapterRefused as error:
        raise AdapterRefused(f"{error} Set {card.base.model} as the base model.") from error
    base = next(model for model in models if model.name != TUNED_ALIAS)
    untuned = _prompted(base)
    tuned = ScoredModel(pick_model(models, TUNED_ALIAS), f"{card.prompt}+{digest}+{untuned.cache_key}")
    return ServedAdapter(tuned, untuned, settings)


async def find_prompted_model(settings: Settings) -> ScoredModel:
    """Find the model of the settings, prompted as its profile says; starts no engine."""
    _require_embedded(settings)
    return _prompted((await embedded_models(settings))[0])


def _prompted(base: Model) -> ScoredModel:
    """The model with a key for its drafts: they depend on the file and the prompt, not on the filter of the profile."""
    file_revision = base.revision.partition("+")[0]
    return ScoredModel(base, f"{prompt_format(base.format).fingerprint}+{base.name}+{file_revision}")


def _require_embedded(settings: Settings) -> None:
    if settings.engine != "embedded":
        raise InputError(
            f"Models are scored on the embedded engine, and the settings choose {settings.engine}. Set engine to "
            "embedded; convert a base that is not a GGUF file, and set it as the base model."
        )


def _digest(adapter: Path) -> str:
    try:
        return hash_file(adapter / GGUF_FILE, length=16)
    except FileNotFoundError as error:
        raise InputError(f"{adapter} has no {GGUF_FILE}. Export the adapter to GGUF first.") from error


def _base(adapter: Path, card: AdapterCard) -> str:
    """The base of the card, if the engine can find it."""
    if card.base.model in CATALOGUE or Path(card.base.model).suffix == ".gguf":
        return card.base.model
    raise InputError(
        f"{adapter} was trained on {card.base.model}, which is not in the catalogue. Set a GGUF file of it as the base "
        "model."
    )

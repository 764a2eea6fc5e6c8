"""An adapter and its base as the embedded engine serves them, so that they are measured as they will be used."""

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
    """A model of an engine, and a key for all that decides its drafts besides what is asked: weights and format."""

    model: Model
    key: str


@dataclass(frozen=True, slots=True)
class ServedAdapter:
    """The adapter, its base asked by instructions, and the settings that an engine with both is opened with."""

    tuned: ScoredModel
    untuned: ScoredModel
    settings: Settings


async def find_served_adapter(adapter: Path, settings: Settings) -> ServedAdapter:
    """The adapter on the model of the settings, if they name one, else on the base that its card has; not started yet.

    Other engines are refused: nothing here starts vLLM, and a server that is given by its address is asked by
    instructions, which is not what an adapter was trained on.
    """
    if settings.engine != "embedded":
        raise InputError(
            f"An adapter is measured on the embedded engine, and the settings name {settings.engine}. Set "
            "APE_ENGINE=embedded; a base that is no GGUF file has to be converted to one, and given with --base."
        )
    card = read_card(adapter)
    digest = _digest(adapter)
    # With its base alone beside it: by default that would be the tuned model that comes with this package.
    changes = {"adapters": {TUNED_ALIAS: adapter}, "model": settings.model or _base(adapter, card)}
    settings = settings.model_copy(update=changes)
    try:
        models = await embedded_models(settings)
    except AdapterRefused as error:
        raise AdapterRefused(f"{error} Its base, {card.base.model}, is given with --base.") from error
    base = next(model for model in models if model.name != TUNED_ALIAS)
    untuned = ScoredModel(base, f"{prompt_format(base.format).fingerprint}+{base.name}+{base.revision}")
    tuned = ScoredModel(pick_model(models, TUNED_ALIAS), f"{card.prompt}+{digest}+{untuned.key}")
    return ServedAdapter(tuned, untuned, settings)


def _digest(adapter: Path) -> str:
    try:
        return hash_file(adapter / GGUF_FILE, length=16)
    except FileNotFoundError as error:
        raise InputError(
            f"{adapter} has no {GGUF_FILE}. `ape finetune export {adapter}` writes it."
        ) from error


def _base(adapter: Path, card: AdapterCard) -> str:
    """The model that it was trained on, where that is one the engine can find."""
    if card.base.model in CATALOGUE or Path(card.base.model).suffix == ".gguf":
        return card.base.model
    raise InputError(
        f"{adapter} was trained on {card.base.model}, and where a GGUF file of that is can't be told. Give it with "
        "--base FILE.gguf."
    )

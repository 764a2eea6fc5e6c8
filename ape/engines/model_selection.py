"""What the embedded engine is to load: a base model, adapters on it, and which of them all is the default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ape.adapters import read_card
from ape.adapters.gguf import GgufAdapter, read_gguf_adapter
from ape.engines.merged_model import read_merged_card
from ape.errors import AdapterRefused, InputError, ModelError
from ape.models import CATALOGUE, DEFAULT_MODEL, TUNED_FOLDER, TUNED_MODEL
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.settings import Settings
from prompts import DEFAULT_FORMAT


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """A base as a user types it, directories of adapters by name, and the default: the base where it is None."""

    base: str
    adapters: Mapping[str, Path]
    default: str | None = None

    def read_adapters(self, base: Path) -> tuple[GgufAdapter, ...]:
        """The adapters, checked against the base's file."""
        return tuple(_read(name, directory, base) for name, directory in self.adapters.items())

    def name_and_format(self, name: str) -> tuple[str, str]:
        """The model of that name, or what "default" stands for, and the format that it will be asked in."""
        meant = (self.default or self.base) if name == DEFAULT_MODEL_NAME else name
        if meant not in self.adapters:
            place = Path(meant).expanduser()
            card = read_merged_card(place.parent) if place.suffix == ".gguf" else None
            return meant, card.format if card else DEFAULT_FORMAT.name
        with _name_adapter_in_errors(meant, self.adapters[meant]):
            return meant, read_card(self.adapters[meant]).format


def select_models(settings: Settings, *, tuned: Path = TUNED_FOLDER) -> ModelSelection:
    """What the settings ask for. `tuned` holds the adapter that comes with the package.

    Without that folder the default is the untuned model, and says so by its name. A folder that can't be used is an
    error: edits of another model than usual are not what anybody asked for.
    """
    wanted = settings.model or (TUNED_MODEL if tuned.is_dir() else DEFAULT_MODEL)
    for name, directory in settings.adapters.items():
        with _name_adapter_in_errors(name, directory):
            _require(directory)
        if name in CATALOGUE or name == DEFAULT_MODEL_NAME:
            raise InputError(
                f"{name} is a model's name already. Choose another for the adapter.", field="adapters"
            )
    if wanted in settings.adapters:
        return ModelSelection(_base_of(wanted, settings.adapters[wanted]), settings.adapters, wanted)
    if wanted == TUNED_MODEL:
        return ModelSelection(DEFAULT_MODEL, {TUNED_MODEL: tuned, **settings.adapters}, TUNED_MODEL)
    return ModelSelection(wanted, settings.adapters)


def _base_of(name: str, directory: Path) -> str:
    """The base that its card names, if it is one that we know how to get."""
    with _name_adapter_in_errors(name, directory):
        base = read_card(directory).base.model
    if base in CATALOGUE or Path(base).suffix == ".gguf":
        return base
    raise InputError(
        f"The adapter {name} was trained on {base}, and where a GGUF file of that is can't be told. Give it with "
        f"--model FILE.gguf, and let the adapter be the default with APE_ALIASES=default={name}.",
        field="model",
    )


def _read(name: str, directory: Path, base: Path) -> GgufAdapter:
    with _name_adapter_in_errors(name, directory):
        return read_gguf_adapter(name, directory, base=base)


def _require(directory: Path) -> None:
    if not directory.is_dir():
        raise AdapterRefused(f"There is no directory {directory}.")


@contextmanager
def _name_adapter_in_errors(name: str, directory: Path) -> Iterator[None]:
    """Say which adapter a refusal is about."""
    try:
        yield
    except AdapterRefused as error:
        if name == TUNED_MODEL:
            raise ModelError(
                f"The tuned model that comes with ape can't be used. {error} Install ape again, or take the untuned "
                f"model with --model {DEFAULT_MODEL}."
            ) from error
        raise AdapterRefused(f"The adapter {name} ({directory}) can't be served. {error}") from error

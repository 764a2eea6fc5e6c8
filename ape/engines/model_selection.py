"""The models that the embedded engine loads: a base model, its adapters, and the default among them."""

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
    """A base model, adapter directories by name, and the default model: the base if None."""

    base: str
    adapters: Mapping[str, Path]
    default: str | None = None

    def read_adapters(self, base: Path) -> tuple[GgufAdapter, ...]:
        """Read the adapters and check them against the file of the base."""
        return tuple(_read(name, directory, base) for name, directory in self.adapters.items())

    def name_and_format(self, name: str) -> tuple[str, str]:
        """Resolve "default" and return the model's name with its prompt format."""
        model = (self.default or self.base) if name == DEFAULT_MODEL_NAME else name
        if model not in self.adapters:
            path = Path(model).expanduser()
            card = read_merged_card(path.parent) if path.suffix == ".gguf" else None
            return model, card.format if card else DEFAULT_FORMAT.name
        with _name_adapter_in_errors(model, self.adapters[model]):
            return model, read_card(self.adapters[model]).format


def select_models(settings: Settings, *, tuned: Path = TUNED_FOLDER) -> ModelSelection:
    """Select the models of the settings. `tuned` is the directory of the adapter that comes with the package.

    Without that directory the default is the untuned model, under its own name. A damaged one is an error, so that the
    model never changes silently.
    """
    model = settings.model or (TUNED_MODEL if tuned.is_dir() else DEFAULT_MODEL)
    for name, directory in settings.adapters.items():
        with _name_adapter_in_errors(name, directory):
            _require(directory)
        if name in CATALOGUE or name == DEFAULT_MODEL_NAME:
            raise InputError(
                f"{name} is already the name of a model. Choose another for the adapter.", field="adapters"
            )
    if model in settings.adapters:
        return ModelSelection(_base_of(model, settings.adapters[model]), settings.adapters, model)
    if model == TUNED_MODEL:
        return ModelSelection(DEFAULT_MODEL, {TUNED_MODEL: tuned, **settings.adapters}, TUNED_MODEL)
    return ModelSelection(model, settings.adapters)


def _base_of(name: str, directory: Path) -> str:
    """The base in the adapter's card; InputError if it is not a model that can be resolved."""
    with _name_adapter_in_errors(name, directory):
        base = read_card(directory).base.model
    if base in CATALOGUE or Path(base).suffix == ".gguf":
        return base
    raise InputError(
        f"The adapter {name} was trained on {base}, and no GGUF file of that model is known. Set `model` to its .gguf "
        f"file, and `aliases` to default={name} to make the adapter the default.",
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
    """Add the name and directory of the adapter to a refusal."""
    try:
        yield
    except AdapterRefused as error:
        if name == TUNED_MODEL:
            raise ModelError(
                f"The tuned model of this package can't be used. {error} Reinstall the package, or set `model` to "
                f"{DEFAULT_MODEL}, the untuned model."
            ) from error
        raise AdapterRefused(f"The adapter {name} ({directory}) can't be served. {error}", field=error.field) from error

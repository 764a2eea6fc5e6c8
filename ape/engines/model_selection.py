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
from ape.models.default_choice import choose_default
from ape.models.profile import read_profile
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
            profile = read_profile(model)
            return model, card.format if card else profile.format if profile else DEFAULT_FORMAT.name
        with _name_adapter_in_errors(model, self.adapters[model]):
            return model, read_card(self.adapters[model]).format

    def languages(self, name: str) -> tuple[str, ...]:
        """The pairs, as "fr-en", for which the model of that name was tuned; none: any."""
        if name not in self.adapters:
            return ()
        with _name_adapter_in_errors(name, self.adapters[name]):
            return read_card(self.adapters[name]).languages


def configured_model(settings: Settings, name: str = DEFAULT_MODEL_NAME) -> str:
    """The name of the model that the settings choose, as far as it is known without an engine."""
    if name != DEFAULT_MODEL_NAME:
        return name
    if settings.engine == "embedded":
        return select_models(settings).name_and_format(name)[0]
    return settings.model or f"the default model of {settings.url or settings.engine}"


def configured_languages(settings: Settings, model: str) -> tuple[str, ...]:
    """The pairs for which a configured model was tuned, as far as they are known without an engine; none: any."""
    return select_models(settings).languages(model) if settings.engine == "embedded" else ()


def select_models(settings: Settings, *, tuned: Path = TUNED_FOLDER) -> ModelSelection:
    """Select the models of the settings. `tuned` is the directory of the adapter that comes with the package.

    The default is the large model of the catalogue once it is downloaded, if memory allows. Otherwise it is the tuned
    small model; without its directory, the untuned one. A damaged directory is an error, so that the model never
    changes silently.
    """
    model = settings.model or choose_default(cache=settings.cache, tuned=tuned).model
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

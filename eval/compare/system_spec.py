"""System arguments of a comparison: a model to run, or ready outputs.

NAME=MODEL          the name of a known model, "default", a .gguf file or a hub id, on the embedded engine
NAME=DIRECTORY      an adapter with its ape.json, on the embedded engine
NAME=URL#MODEL      a model of an OpenAI-compatible server; by default its first
NAME=@FILE          ready outputs: one line per paragraph, or JSON lines with id and text
NAME=:SYSTEM        ready outputs of a system in the set
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ape.adapters import CARD_FILE
from ape.adapters.directory import CONFIG_FILE, WEIGHTS_FILE
from ape.adapters.gguf import GGUF_FILE
from ape.engines.model_selection import select_models
from ape.errors import InputError
from ape.files.hashing import hash_input
from ape.files.rows import read_jsonl
from ape.models import parse_model, resolve_model
from ape.models.checksum import file_revision, require_gguf
from ape.passage.options import DEFAULT_MODEL_NAME
from ape.settings import Settings, load_settings
from eval.compare.comparison_set import DO_NOTHING


@dataclass(frozen=True, slots=True)
class ModelSystemSpec:
    """A model, run on an engine with these settings."""

    name: str
    given: str
    settings: Settings

    def hashes(self) -> dict[str, str]:
        """Hashes of the model files: the embedded engine's base and the adapter."""
        if self.settings.engine != "embedded":
            return {}
        base = resolve_model(select_models(self.settings).base, cache=self.settings.cache)
        hashes = {base.name: f"revision:{file_revision(base)}"}
        for place in select_models(self.settings).adapters.values():
            files = (place / name for name in (CARD_FILE, CONFIG_FILE, WEIGHTS_FILE, GGUF_FILE))
            hashes |= {f"{place.name}/{file.name}": f"sha256:{hash_input(file)}" for file in files if file.is_file()}
        return hashes

    def describe(self) -> str:
        """Identity of the model: engine, address, argument and file hashes."""
        settings = self.settings
        parts = [settings.engine, settings.url if settings.engine == "url" else "", self.given]
        return " ".join(filter(None, [*map(str, parts), *self.hashes().values()]))


@dataclass(frozen=True, slots=True)
class OutputFileSpec:
    """Ready outputs in a file."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class SetSystemSpec:
    """Ready outputs that are in the set."""

    name: str
    system: str


SystemSpec: TypeAlias = ModelSystemSpec | OutputFileSpec | SetSystemSpec


def parse_systems(given: Iterable[str]) -> list[SystemSpec]:
    """Parse system arguments with unique names."""
    specs = [parse_system(argument) for argument in given]
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two systems are called {name!r}.", field="system")
    return specs


def parse_system(given: str) -> SystemSpec:
    """Parse one system argument."""
    name, sign, value = given.partition("=")
    name, value = name.strip(), value.strip()
    if not (name and sign and value) or not name.isprintable():
        raise InputError(
            f"The system {given!r} is not NAME=MODEL, NAME=URL#MODEL, NAME=@FILE or NAME=:SYSTEM.", field="system"
        )
    if name == DO_NOTHING:
        raise InputError(
            f"The name {DO_NOTHING} is reserved for the unchanged MT. Choose another name.", field="system"
        )
    if value.startswith("@"):
        return OutputFileSpec(name, Path(value[1:]).expanduser())
    if value.startswith(":"):
        return SetSystemSpec(name, value[1:])
    return ModelSystemSpec(name, value, model_settings(value))


def model_settings(given: str) -> Settings:
    """The settings of this machine with only this model."""
    if given.startswith(("http://", "https://")):
        url, _, served = given.partition("#")
        return load_settings(engine="url", url=url, model=served or None, aliases={}, adapters={})
    place = Path(given).expanduser()
    if not place.is_dir():
        model = None if given == DEFAULT_MODEL_NAME else given
        settings = load_settings(engine="embedded", model=model, aliases={}, adapters={})
        _check_model_file(settings)
        return settings
    if not (place / CARD_FILE).is_file():
        raise InputError(f"{given} is not an adapter: the folder has no {CARD_FILE}.", field="system")
    adapter = place.resolve().name
    return load_settings(engine="embedded", model=adapter, aliases={}, adapters={adapter: str(place)})


def _check_model_file(settings: Settings) -> None:
    """Check a local model file; hub names are not checked."""
    model = parse_model(select_models(settings).base)
    if isinstance(model, Path):
        require_gguf(model)


def read_texts_by_id(path: Path, ids: Sequence[str], *, name: str) -> tuple[str, ...]:
    """Read texts from JSON lines with `id` and `text`. Raises InputError for missing or duplicate paragraphs."""
    texts: dict[str, str] = {}
    for number, row in read_jsonl(path, field="system"):
        paragraph, text = str(row.get("id", "")), row.get("text")
        if "id" not in row or not isinstance(text, str):
            raise InputError(f"Line {number} of {path.name} is not an object with an id and a text.", field="system")
        if paragraph in texts:
            raise InputError(
                f"Line {number} of {path.name} repeats paragraph {paragraph!r}: keep one text for it.", field="system"
            )
        texts[paragraph] = text
    for paragraph in ids:
        if not texts.get(paragraph, "").strip():
            raise InputError(
                f"System {name!r} has no text for paragraph {paragraph!r}: {path.name} lacks it.", field="system"
            )
    if odd := texts.keys() - set(ids):
        raise InputError(f"{path.name} has a text for paragraph {min(odd)!r}, which is not in the set.", field="system")
    return tuple(texts[paragraph] for paragraph in ids)

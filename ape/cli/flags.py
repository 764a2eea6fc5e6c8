"""Flags shared by several commands."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from annotated_types import Ge, Gt, Le

from ape.errors import InputError
from ape.passage.options import Candidates, ContextSize, Description, Instructions, MaxAttempts, Seed, Temperature, TopP

if TYPE_CHECKING:
    from ape.settings import Settings


class EngineName(StrEnum):
    """Engines."""

    EMBEDDED = "embedded"
    VLLM = "vllm"
    URL = "url"


EngineFlag = Annotated[
    EngineName | None,
    typer.Option("--engine", help="Engine: embedded llama.cpp, vLLM started here, or a server (url)."),
]
UrlFlag = Annotated[
    str | None, typer.Option("--url", help="URL of an OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1.")
]
ModelFlag = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model. Embedded: a name from `ape models list` or --adapter, a .gguf file or a hub id. vLLM: a "
        "directory or hub id. URL: a name on the server.",
    ),
]
AdapterFlag = Annotated[
    list[str] | None,
    typer.Option("--adapter", help="Adapter to load, as NAME=DIRECTORY; embedded or vLLM; repeatable."),
]
SourceLanguageFlag = Annotated[
    str | None, typer.Option("--source-language", help="ISO code of the source language, e.g. fr; detected by default.")
]
TargetLanguageFlag = Annotated[
    str | None, typer.Option("--target-language", help="ISO code of the target language, e.g. en; detected by default.")
]


def option_flag(option: Any, *names: str, help: str = "") -> Any:
    """The flag of an option of `ape.passage.options`, with its bounds and description."""
    bounds: dict[str, Any] = {}
    for constraint in option.__metadata__:
        match constraint:
            case Ge(least) | Gt(least):  # check_bounds excludes the bound of Gt
                bounds["min"] = least
            case Le(most):
                bounds["max"] = most
            case Description(text):
                bounds["help"] = text
    return typer.Option(*names, **bounds | ({"help": help} if help else {}))


TEMPERATURE = option_flag(Temperature, "--temperature")
TOP_P = option_flag(TopP, "--top-p")
SEED = option_flag(Seed, "--seed")
MAX_ATTEMPTS = option_flag(MaxAttempts, "--max-attempts")
CANDIDATES = option_flag(Candidates, "--n", "-n")
ContextFlag = Annotated[int, option_flag(ContextSize, "--context")]
InstructionsFlag = Annotated[str, option_flag(Instructions, "--instructions")]
GlossaryFlag = Annotated[
    list[str] | None, typer.Option("--glossary", help="Glossary entry, as TERM=WORDING; repeatable.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def engine_settings(
    *, engine: EngineName | None, url: str | None, model: str | None, adapter: list[str] | None, **others: object
) -> Settings:
    """Settings with the engine flags and others; a flag that the engine would ignore is refused."""
    from ape.settings import load_settings

    settings = load_settings(engine=engine, url=url, model=model, adapters=adapter or None, **others)
    if adapter and settings.engine == "url":
        raise InputError(
            "--adapter is for the embedded engine and vLLM; a server by URL loads its own adapters.", field="adapters"
        )
    return settings


def parse_assignments(entries: Iterable[str], *, flag: str, form: str = "NAME=FILE") -> dict[str, str]:
    """The values of a repeated flag by name."""
    values: dict[str, str] = {}
    for entry in entries:
        name, _, value = (part.strip() for part in entry.partition("="))
        if not (name and value):
            raise InputError(f"{flag} {entry!r} is not {form}.", field=flag.lstrip("-"))
        values[name] = value
    return values


def check_output_file(path: Path | None, *, flag: str, replace: bool = True) -> None:
    """Refuse an output file that can't be written, before the work begins."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{flag} {path} is a folder: name a file in it.", field="out")
    if not path.parent.is_dir():
        raise InputError(f"{flag} {path}: there is no folder {path.parent}. Create it first.", field="out")
    if not replace and path.exists():
        raise InputError(f"{path} exists. Choose another file, or use --replace.", field="out")

"""The flags that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from annotated_types import Ge, Gt, Le

from ape.passage.options import (
    Candidates,
    ContextSize,
    Description,
    Instructions,
    MaxAttempts,
    Seed,
    Temperature,
    TopP,
)

if TYPE_CHECKING:
    from ape.settings import Settings


class EngineName(StrEnum):
    """Who runs the model."""

    EMBEDDED = "embedded"
    VLLM = "vllm"
    URL = "url"


EngineFlag = Annotated[
    EngineName | None,
    typer.Option(
        "--engine", help="Who runs the model: llama.cpp inside, vLLM started here, or a server by URL."
    ),
]
UrlFlag = Annotated[
    str | None, typer.Option("--url", help="An OpenAI-compatible server, e.g. http://127.0.0.1:8080/v1.")
]
ModelFlag = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Embedded: a name of `ape models list` or --adapter, a .gguf file or a hub id. vLLM: a directory or hub "
        "id. URL: a name there.",
    ),
]
AdapterFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--adapter",
        help="NAME=DIRECTORY of an adapter to load, on the embedded engine or vLLM; may be repeated.",
    ),
]
SourceLanguageFlag = Annotated[
    str | None, typer.Option("--source-language", help="ISO code, e.g. fr; told from the text if left out.")
]
TargetLanguageFlag = Annotated[
    str | None, typer.Option("--target-language", help="ISO code, e.g. en; told from the text if left out.")
]


def option_flag(option: Any, *names: str, help: str = "") -> Any:
    """The flag of an option of `ape.passage.options`, with its bounds and description."""
    bounds: dict[str, Any] = {}
    for constraint in option.__metadata__:
        match constraint:
            case Ge(least) | Gt(least):  # check_bounds refuses the bound itself where it is excluded
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
    list[str] | None, typer.Option("--glossary", help="TERM=WORDING to use; may be repeated.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def engine_settings(
    *,
    engine: EngineName | None,
    url: str | None,
    model: str | None,
    adapter: list[str] | None,
    **others: object,
) -> Settings:
    """The settings with the flags of an engine, and others; a flag that its engine would pass over is refused."""
    from ape.errors import InputError
    from ape.settings import load_settings

    settings = load_settings(engine=engine, url=url, model=model, adapters=adapter or None, **others)
    if adapter and settings.engine == "url":
        raise InputError(
            "--adapter is for the engines that are started here: a server by URL loads its own.",
            field="adapters",
        )
    return settings

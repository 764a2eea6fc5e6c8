"""`ape settings`: print the effective settings, with secrets masked."""

from __future__ import annotations

import typer

from ape.cli.flags import JsonFlag


def settings(json_output: JsonFlag = False) -> None:
    """Print the effective settings: flags, environment (APE_…), file, defaults."""
    import json

    from rich.console import Console
    from rich.table import Table

    from ape.settings import Settings, config_file, load_settings

    values = load_settings().masked()
    if json_output:
        typer.echo(json.dumps(values, indent=2))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for name, value in values.items():
        table.add_row(name, value, Settings.model_fields[name].description)
    Console(highlight=False).print(table)
    typer.echo(f"settings file: {config_file() or 'none'}", err=True)

"""`ape settings`: print the effective settings, with secrets masked, and where everything is kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ape.cli.flags import JsonFlag, warn_of_misspelt_variables

if TYPE_CHECKING:
    from rich.console import Console

    from ape.settings import Settings


def settings(json_output: JsonFlag = False) -> None:
    """Print the effective settings, and where jobs, models and caches are kept.

    A flag wins over the environment (APE_…), the environment over the file, the file over the default.
    """
    import json

    from rich.console import Console

    from ape.settings import Settings, config_file, load_settings

    current = load_settings()
    warn_of_misspelt_variables()
    values, places = current.masked(), storage_places(current)
    if json_output:
        storage = {name: {"path": str(path), "bytes": size} for name, (path, size) in places.items()}
        typer.echo(json.dumps({**values, "storage": storage}, indent=2))
        return
    console = Console(highlight=False)
    _print_table(
        console, [(name, text, Settings.model_fields[name].description or "") for name, text in values.items()]
    )
    console.print("\nKept on this machine:")
    _print_table(console, [(name, _size_text(size), str(path)) for name, (path, size) in places.items()])
    typer.echo(f"settings file: {config_file() or 'none'}", err=True)


def storage_places(settings: Settings) -> dict[str, tuple[Path | str, int | None]]:
    """Where things are kept, each with its size in bytes; None if there is nothing or it is elsewhere."""
    from ape.files.cache import cache_folder

    jobs = settings.jobs_url
    store: Path | str = settings.masked()["jobs"] if "://" in jobs else Path(jobs)
    places = {
        "jobs": store,
        "uploaded books": settings.uploads_folder,
        "comparisons": settings.comparisons_folder,
        "models": settings.cache,
    }
    caches = cache_folder()
    found = {name: (path, _size(path)) for name, path in places.items()}
    return found | {"other caches": (caches, _size(caches, leave_out=settings.cache))}


def _size(path: Path | str, *, leave_out: Path | None = None) -> int | None:
    """The bytes of a folder, or of a database with the files next to it (-wal, -shm)."""
    if isinstance(path, str) or not path.exists():
        return None
    if not path.is_dir():
        return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))
    files = (one for one in path.rglob("*") if one.is_file() and not (leave_out and one.is_relative_to(leave_out)))
    return sum(one.stat().st_size for one in files)


def _size_text(size: int | None) -> str:
    from rich.filesize import decimal

    return "nothing here" if size is None else decimal(size)


def _print_table(console: Console, rows: list[tuple[str, str, str]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)

"""Progress and summary of `ape finetune build`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from ape.cli.terminal import error_console, passages_progress

if TYPE_CHECKING:
    from finetune.data.alignment import AlignmentProgress
    from finetune.data.build import TrainingSet
    from finetune.data.paragraph import TrainingParagraph


def filter_progress(what: str, items: Sequence[TrainingParagraph]) -> Iterable[TrainingParagraph]:
    """A progress bar for a filter."""
    with passages_progress(error_console()) as bar:
        task = bar.add_task(what, total=len(items), so_far="")
        for item in items:
            yield item
            bar.advance(task)


@contextmanager
def alignment_progress(console: Console) -> Iterator[AlignmentProgress]:
    """A progress bar for each alignment step; one line per step where stderr is not a terminal."""
    with passages_progress(console) as bar:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=of, so_far="sentences")
                if not console.is_terminal:
                    console.print(f"{what}, {of:,} sentences …", markup=False, soft_wrap=True)
            bar.update(tasks[what], completed=done)

        yield show


def print_build(built: TrainingSet, out: Path, manifest: Mapping[str, Any], *, json_output: bool) -> None:
    """Print counts by filter and split, or the manifest as JSON."""
    if json_output:
        typer.echo(json.dumps({"out": str(out), **manifest}, ensure_ascii=False, indent=2))
        return
    table = Table("filter", "split", "input", "dropped", "output", box=None, pad_edge=False)
    for column in table.columns[2:]:
        column.justify = "right"
    for step in built.funnel.steps:
        table.add_row(step.name, step.side, *(f"{number:,}" for number in (step.came, step.dropped, step.left)))
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for side, split in manifest["splits"].items():
        pairs = ", ".join(f"{pair} {count:,}" for pair, count in split["languages"].items())
        identities, stutters = (split["kinds"].get(kind, 0) for kind in ("identity", "stutter"))
        made = f", {stutters:,} stutters" if stutters else ""
        console.print(f"{side}: {split['examples']:,} examples ({pairs}), {identities:,} of them identities{made}")
    typer.echo(out)

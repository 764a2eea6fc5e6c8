"""Terminal output: consoles, progress bars on stderr, and coloured diffs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from ape.models import DownloadListener as PullProgress
from ape.models import DownloadProgress
from ape.passage.result import Decision, PostEdit
from ape.settings import Settings

STYLES = {Decision.EDITED: "green", Decision.UNCHANGED: "cyan", Decision.REJECTED: "yellow"}


def error_console() -> Console:
    """Standard error, for messages and progress."""
    return Console(stderr=True, highlight=False)


def table_console(width: int = 150) -> Console:
    """Standard output, with a fixed width where it is not a terminal."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = width
    return console


def print_line(line: str) -> None:
    """Print a line to stderr, neither wrapped nor read as mark-up."""
    with suppress(OSError, ValueError):  # stderr is closed
        typer.echo(line, err=True)


@contextmanager
def pull_progress(console: Console) -> Iterator[PullProgress]:
    """A progress bar for a download; one line per step where stderr is not a terminal."""
    if not console.is_terminal:
        printed: set[str] = set()

        def print_step(step: DownloadProgress) -> None:
            if step.what not in printed:
                printed.add(step.what)
                console.print(step.what, markup=False, soft_wrap=True)

        yield print_step
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, visible=False)

        def show(step: DownloadProgress) -> None:
            if step.is_notice:
                bar.console.print(step.what, markup=False, soft_wrap=True)
                return
            if step.what != bar.tasks[0].description:
                bar.reset(task)  # the rate of another step says nothing about this one
            bar.update(task, description=step.what, completed=step.done, total=step.total, visible=True)

        yield show


def fetch_with_progress(settings: Settings) -> None:
    """Download the model of the embedded engine, if necessary."""
    from ape.engines.factory import fetch_model

    with pull_progress(error_console()) as progress:
        fetch_model(settings, progress=progress)


def passages_progress(console: Console) -> Progress:
    """A progress bar with a count, the elapsed and the remaining time."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[so_far]}"),
        console=console,
        disable=not console.is_terminal,
    )


@contextmanager
def metrics_progress(total: int) -> Iterator[Callable[[str, str], None]]:
    """A progress bar for counting; yields the listener for a metric and a system."""
    with passages_progress(error_console()) as bar:
        task = bar.add_task("counting", total=total, so_far="")

        def on_progress(metric: str, system: str) -> None:
            bar.update(task, description=f"{metric} of {system}")
            bar.advance(task)

        yield on_progress


def format_diff(mt: str, result: PostEdit, *, coloured: bool) -> Text:
    """Deletions struck in red and insertions underlined in green, or both in brackets without colours."""
    text, place = Text(), 0
    for edit in result.edits:
        text.append(mt[place : edit.mt_span[0]])
        if coloured:
            text.append(edit.before, "red strike")
            text.append(edit.after, "green underline")
        else:
            text.append(f"[-{edit.before}-]" if edit.before else "")
            text.append(f"{{+{edit.after}+}}" if edit.after else "")
        place = edit.mt_span[1]
    text.append(mt[place:])
    return text


def format_decision(result: PostEdit) -> Text:
    """The decision, coloured."""
    return Text(result.decision, STYLES[result.decision])

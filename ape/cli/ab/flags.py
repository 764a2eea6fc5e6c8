"""What the commands of blind tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.errors import InputError

if TYPE_CHECKING:
    from eval.human.trial_store import TrialStore

TrialArgument = Annotated[Path, typer.Argument(metavar="TRIAL", help="A file of `ape ab make`.")]
StoreFlag = Annotated[
    str | None,
    typer.Option(help="Where votes are kept: a file or postgresql://…; the job store if left out."),
]
RatersFlag = Annotated[
    str | None, typer.Option(metavar="NAME,NAME", help="Who takes part; names are told apart by commas.")
]


def parse_names(raters: str | None) -> tuple[str, ...]:
    """The names between the commas."""
    return tuple(name.strip() for name in raters.split(",") if name.strip()) if raters else ()


def open_trials(store: str | None) -> TrialStore:
    """Where votes are kept."""
    from ape.settings import load_settings
    from eval.human.trial_store import TrialStore

    return TrialStore(load_settings(jobs=store).jobs_url)


@contextmanager
def report_write_errors(path: Path) -> Iterator[None]:
    """What can't be written, as a sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} can't be written: {error.strerror}. Name another place.", field="output"
        ) from error

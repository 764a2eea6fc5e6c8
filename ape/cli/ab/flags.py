"""Flags shared by the commands of `ape ab`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from eval.human.trial_store import TrialStore

TrialArgument = Annotated[Path, typer.Argument(metavar="TRIAL", help="Trial file of `ape ab make`.")]
StoreFlag = Annotated[
    str | None, typer.Option(help="Vote database: a file or postgresql://…; the job store by default.")
]
RatersFlag = Annotated[str | None, typer.Option(metavar="NAME,NAME", help="Names of the raters, separated by commas.")]


def parse_names(raters: str | None) -> tuple[str, ...]:
    """Names from a comma-separated list."""
    return tuple(name.strip() for name in raters.split(",") if name.strip()) if raters else ()


def open_trials(store: str | None) -> TrialStore:
    """The store of trials and votes."""
    from ape.settings import load_settings
    from eval.human.trial_store import TrialStore

    return TrialStore(load_settings(jobs=store).jobs_url)

"""Flags, examples and drafts of `ape finetune gate` and `ape finetune score`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ape.settings import Settings
    from finetune.data.example import Example
    from finetune.scoring.drafts import DraftSet

DRAFTS_FILE = "drafts.jsonl"
AdapterArgument = Annotated[Path, typer.Argument(help="Adapter, exported to GGUF.")]
DataFlag = Annotated[Path | None, typer.Option("--data", help="Training set of `ape finetune build`.")]
RowsFlag = Annotated[list[Path] | None, typer.Option("--rows", help="Files of rows instead of --data; repeatable.")]
DraftsFlag = Annotated[
    Path | None, typer.Option("--drafts", help="File that stores drafts; next to the adapter by default.")
]
BaseFlag = Annotated[
    str | None, typer.Option("--base", help="Base model as a .gguf file or name; from the adapter's card by default.")
]
ThreadsFlag = Annotated[
    int | None, typer.Option("--threads", help="Threads of the embedded engine; all cores but one by default.")
]


def require_card(adapter: Path) -> None:
    """Check that the card can be read, before an hour of drafting."""
    from ape.adapters import read_card
    from ape.errors import AdapterRefused

    try:
        read_card(adapter)
    except AdapterRefused as error:
        raise AdapterRefused(f"The adapter {adapter} can't be used. {error}") from error


async def load_or_make_drafts(
    adapter: Path, examples: Sequence[Example], path: Path, settings: Settings, *, base: bool = False
) -> DraftSet:
    """Draft the examples with the adapter or its base on the embedded engine; stored drafts are reused."""
    from ape.cli.terminal import error_console, passages_progress
    from ape.engines.factory import open_engine
    from finetune.scoring.drafts import draft_examples, load_drafts
    from finetune.scoring.served_adapter import find_served_adapter

    served = await find_served_adapter(adapter, settings)
    target = served.untuned if base else served.tuned
    if stored := load_drafts(target.model, examples, path, key=target.cache_key):
        return stored
    with passages_progress(error_console()) as bar:
        task = bar.add_task("drafting", total=len(examples), so_far="")

        def progress(done: int, every: int) -> None:
            bar.update(task, completed=done, total=every)

        async with open_engine(served.settings) as engine:
            return await draft_examples(
                engine,
                target.model.name,
                examples,
                path,
                key=target.cache_key,
                concurrency=settings.concurrency,
                progress=progress,
            )


def chosen_examples(
    adapter: Path, data: Path | None, split: str, rows: Sequence[Path] | None
) -> tuple[list[Example], str]:
    """The examples of a split or of row files, and a description of them.

    Raises InputError for the examples that the adapter was trained on.
    """
    from ape.adapters import read_card
    from ape.errors import InputError
    from finetune.data.dataset import read_dataset
    from finetune.data.inputs import refuse_duplicate_ids
    from finetune.data.row_reader import DefaultLanguages, read_training_rows
    from finetune.data.sanity_checks import refuse_lone_surrogates

    if bool(data) == bool(rows):
        raise InputError("Give either --data, a training set, or --rows, files with one example per line.")
    if data:
        given = read_dataset(data)
        if split == "train" and given.manifest_hash == read_card(adapter).data:
            raise InputError(f"{adapter} was trained on these examples. Choose --split dev or test.")
        examples = given.require(split)
        return examples, f"{len(examples):,} passages, {split} of {given.manifest_hash}"
    found = [row for path in rows or () for row in read_training_rows(path, languages=DefaultLanguages())]
    refuse_duplicate_ids(found)
    refuse_lone_surrogates(found)
    names = ", ".join(path.name for path in rows or ())
    return [row.to_example() for row in found], f"{len(found):,} passages, all of {names}"

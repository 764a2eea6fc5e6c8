"""Flags, examples and drafts of `ape finetune gate` and `ape finetune score`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ape.cli.flags import JsonFlag

if TYPE_CHECKING:
    from ape.settings import Settings
    from finetune.data.example import Example
    from finetune.scoring.drafts import DraftSet

DRAFTS_FILE = "drafts.jsonl"


@dataclass(frozen=True, slots=True)
class DraftFlags:
    """The flags that both commands have."""

    adapter: Annotated[
        Path | None, typer.Argument(help="Adapter, exported to GGUF. Without one, the model of --base is prompted.")
    ] = None
    data: Annotated[Path | None, typer.Option(help="Training set of `ape finetune build`.")] = None
    rows: Annotated[list[Path] | None, typer.Option(help="Files of rows instead of --data; repeatable.")] = None
    drafts: Annotated[
        Path | None, typer.Option(help="File that stores drafts; in the adapter's folder, or MODEL.drafts.jsonl.")
    ] = None
    base: Annotated[
        str | None, typer.Option(help="Base model as a .gguf file or name; from the adapter's card by default.")
    ] = None
    threads: Annotated[
        int | None, typer.Option(help="Threads of the embedded engine; all cores but one by default.")
    ] = None
    json_output: JsonFlag = False

    @property
    def base_name(self) -> str:
        """The name of the base model for file names."""
        return Path(self.base or "").name.removesuffix(".gguf")

    def settings(self) -> Settings:
        """Settings with these flags."""
        from ape.settings import load_settings

        return load_settings(threads=self.threads, model=self.base)

    def examples(self, split: str) -> tuple[list[Example], str]:
        """The examples of the split or of the row files, and a description of them."""
        from ape.errors import InputError

        if self.adapter:
            _require_card(self.adapter)
        elif not self.base:
            raise InputError("Give an adapter, or --base with the name or .gguf file of a model that is prompted.")
        return chosen_examples(self.adapter, self.data, split, self.rows)

    async def load_or_make_drafts(
        self, examples: Sequence[Example], settings: Settings, *, base: bool = False
    ) -> DraftSet:
        """Draft the examples on the embedded engine, with the adapter unless `base`; stored drafts are reused."""
        from ape.cli.terminal import error_console, passages_progress
        from ape.engines.factory import open_engine
        from finetune.scoring.drafts import draft_examples, load_drafts
        from finetune.scoring.served_adapter import find_prompted_model, find_served_adapter

        if self.adapter:
            path = self.drafts or self.adapter / DRAFTS_FILE
            served = await find_served_adapter(self.adapter, settings)
            target, settings = served.untuned if base else served.tuned, served.settings
        else:
            path = self.drafts or Path(f"{self.base_name}.{DRAFTS_FILE}")
            target = await find_prompted_model(settings)
        if stored := load_drafts(target.model, examples, path, key=target.cache_key):
            return stored
        with passages_progress(error_console()) as bar:
            task = bar.add_task("drafting", total=len(examples), so_far="")

            def progress(done: int, every: int) -> None:
                bar.update(task, completed=done, total=every)

            async with open_engine(settings) as engine:
                return await draft_examples(
                    engine,
                    target.model.name,
                    examples,
                    path,
                    key=target.cache_key,
                    concurrency=settings.concurrency,
                    progress=progress,
                )


def _require_card(adapter: Path) -> None:
    """Check that the card can be read, before an hour of drafting."""
    from ape.adapters import read_card
    from ape.errors import AdapterRefused

    try:
        read_card(adapter)
    except AdapterRefused as error:
        raise AdapterRefused(f"The adapter {adapter} can't be used. {error}") from error


def chosen_examples(
    adapter: Path | None, data: Path | None, split: str, rows: Sequence[Path] | None
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
        if adapter and split == "train" and given.manifest_hash == read_card(adapter).data:
            raise InputError(f"{adapter} was trained on these examples. Choose --split dev or test.")
        examples = given.require(split)
        return examples, f"{len(examples):,} passages, {split} of {given.manifest_hash}"
    found = [row for path in rows or () for row in read_training_rows(path, languages=DefaultLanguages())]
    refuse_duplicate_ids(found)
    refuse_lone_surrogates(found)
    names = ", ".join(path.name for path in rows or ())
    return [row.to_example() for row in found], f"{len(found):,} passages, all of {names}"
